"""Ctrl-C while a scan waits for a server."""

from support.case_loops import each_case
from support.cpp_writers import write_arrow
from support.http_server import seconds_to_interrupt, serve

DATA = write_arrow({"a": list(range(300_000))}, compression="uncompressed")
SEVERAL = ["scan.to_table()", "list(scan)", "scan.count()", "scan.explain()", "scan.splits()"]


@each_case(
    ("threads", "call"),
    [
        *((1, call) for call in SEVERAL),
        (2, "orcish.scan(urls).to_table()"),
        *((2, call) for call in SEVERAL),
    ],
)
def test_ctrl_c(threads, call):
    # With a schema, files are first opened by the call.
    setup = "import pyarrow as pa; urls = sys.argv[1:]; schema = pa.schema([('a', pa.int64())]); "
    setup += f"scan = orcish.scan(urls, schema=schema, threads={threads}, filters=orcish.col('a') > 5)"
    with serve({f"/{i}.orc": DATA for i in range(4)}) as server:
        urls = [f"{server.url}/{i}.orc" for i in range(4)]
        assert seconds_to_interrupt(server, urls, setup, call, hold=4, settle=0.2) < 2
