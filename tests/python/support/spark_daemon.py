"""The Python of Spark's workers in tests: a worker starts with the modules that it needs.

Spark starts a new worker after each error. A worker of Spark's own daemon needs more than two seconds to import PySpark, which
is in an archive without compiled modules, pandas, pyarrow and orcish. The scripts of ``spark_scripts`` have Spark's own daemon.
"""

import importlib
import runpy
import sys
from pathlib import Path

MODULES = [
    "orcish.spark",
    "pandas",
    "pyarrow",
    "pyspark.sql.worker.commit_data_source_write",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.data_source_pushdown_filters",
    "pyspark.sql.worker.lookup_data_sources",
    "pyspark.sql.worker.plan_data_source_read",
    "pyspark.sql.worker.write_into_data_source",
    "pyspark.worker",
]


def write_interpreter(path: Path) -> Path:
    """Writes the program for ``PYSPARK_PYTHON``: this Python, whose daemon of Spark imports the modules before it forks."""
    path.write_text(
        "#!/bin/sh\n"
        f"if [ \"$1\" = -m ]; then shift; exec '{sys.executable}' '{__file__}' \"$@\"; fi\n"
        f"exec '{sys.executable}' \"$@\"\n"
    )
    path.chmod(0o700)
    return path


def main() -> None:
    # Without the folder of this file, and without the archive: the modules that are installed are the same.
    sys.path[:] = [entry for entry in sys.path[1:] if not entry.endswith("pyspark.zip")]
    del sys.argv[0]
    if sys.argv[0] == "pyspark.daemon":
        for name in MODULES:
            importlib.import_module(name)
    runpy.run_module(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
