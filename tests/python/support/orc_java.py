"""ORC's Java library as a reader: it runs in the JVM of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.java_gateway import get_field


class Java:
    """A file as ORC's Java library has it; rows are text, which it writes of any type."""

    def __init__(self, spark: Any, path: Path, keys: Mapping[tuple[str, int], bytes] | None = None) -> None:
        self.jvm = spark._jvm
        orc = self.jvm.org.apache.orc.OrcFile
        options = orc.readerOptions(spark._jsc.hadoopConfiguration())
        if keys is not None:
            store, algorithms = self.jvm.org.apache.orc.InMemoryKeystore(), self.jvm.org.apache.orc.EncryptionAlgorithm
            for (name, version), key in sorted(keys.items()):
                algorithm = algorithms.AES_CTR_128 if len(key) == 16 else algorithms.AES_CTR_256
                store.addKey(name, version, algorithm, key)
            options = options.setKeyProvider(store)
        self.file = orc.createReader(self.jvm.org.apache.hadoop.fs.Path(str(path)), options)

    def texts(self, options: Any = None) -> list[str]:
        """All rows."""
        rows = self.file.rows(options) if options else self.file.rows()
        batch = self.file.getSchema().createRowBatch(1024)
        found: list[str] = []
        while rows.nextBatch(batch):
            found += lines(batch)
        rows.close()
        return found


def lines(batch: Any) -> list[str]:
    count = get_field(batch, "size")
    found: list[str] = batch.toString().split("\n")
    # The first line names the types of columns.
    return found[1 : count + 1]
