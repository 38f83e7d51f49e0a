"""Fixtures that several files share. Every ORC file is written at test time by a writer that people use."""

import os
import random
import sys
import time
import zlib

# Without another word a data source takes the zone of its machine.
os.environ["TZ"] = "UTC"
time.tzset()

import hypothesis  # noqa: E402
import pytest  # noqa: E402

# The workers of Spark must run this interpreter.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
# A JVM that lives for seconds spends half of them on compiling what it runs once.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

hypothesis.settings.register_profile("here", deadline=None, derandomize=False, print_blob=True)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None)

# Workers of pytest inherit it. Random tests have other cases in each run, but for CI.
SEED = os.environ.setdefault("ORCISH_SEED", "0" if os.environ.get("CI") else str(random.randrange(1 << 32)))
hypothesis.settings.load_profile("ci" if os.environ.get("CI") and SEED == "0" else "here")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """The seed of hypothesis, whose plugin takes it from here unless the command line has one."""
    if config.option.hypothesis_seed is None and not hypothesis.settings.default.derandomize:
        config.option.hypothesis_seed = SEED


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """The files of one part, where ORCISH_TEST_PART has its number and how many there are, such as 1/3.

    Those that need Spark come first: they take longest, and one that begins last keeps the other workers waiting.
    """
    items.sort(key=lambda item: item.path.parent.name != "spark")
    number, _, parts = os.environ.get("ORCISH_TEST_PART", "1/1").partition("/")
    part: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        part[zlib.crc32(item.path.name.encode()) % int(parts) == int(number) - 1].append(item)
    config.hook.pytest_deselected(items=part[False])
    items[:] = part[True]


def pytest_assertrepr_compare(op, left, right):
    """Where long columns differ, in place of a diff of all rows, which takes minutes."""
    if op != "==" or not isinstance(left, list) or not isinstance(right, list) or len(left) + len(right) < 100:
        return None
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return [
        f"columns of {len(left)} and {len(right)} rows, equal up to row {at}",
        f"left:  {left[at : at + 5]!r}",
        f"right: {right[at : at + 5]!r}",
    ]


@pytest.fixture(scope="module")
def another_process():
    """A pool of one process, which is started and not forked."""
    import concurrent.futures
    import multiprocessing

    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One local Spark for all tests, whose clock is UTC."""
    from pyspark.sql import SparkSession
    from support.spark_daemon import write_interpreter

    options = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
    }
    builder = SparkSession.builder.master("local[1]").appName("orcish tests")
    for key, value in options.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", str(write_interpreter(tmp_path_factory.mktemp("spark") / "python")))
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def running_store():
    """One S3 for all tests."""
    from support.s3_store import run_store

    with run_store() as store:
        yield store


@pytest.fixture
def store(running_store, monkeypatch):
    """The bucket, empty, behind a server that does not fail."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    running_store.clear()
    return running_store


@pytest.fixture(scope="session")
def running_hdfs():
    """One HDFS for all tests of a process of pytest, where its servers can be had."""
    import contextlib

    from support.hdfs_store import MissingError, run_hdfs

    with contextlib.ExitStack() as stack:
        try:
            cluster = stack.enter_context(run_hdfs())
        except MissingError as error:
            pytest.skip(str(error))
        yield cluster


@pytest.fixture
def hdfs(running_hdfs, monkeypatch):
    """The cluster, without files."""
    for name in [name for name in os.environ if name.startswith("HADOOP_")]:
        monkeypatch.delenv(name)
    running_hdfs.clear()
    return running_hdfs


@pytest.fixture
def spark_orc(spark, tmp_path):
    """A function that lets Spark write the rows of a query, or a data frame, as one ORC file, and gives its path."""

    def write(query, **options):
        frame = spark.sql(query) if isinstance(query, str) else query
        folder = tmp_path / f"spark{len(list(tmp_path.iterdir()))}"
        frame.coalesce(1).write.options(**options).orc(str(folder))
        (part,) = folder.glob("part-*.orc")
        return part

    return write
