"""Reading from asynchronous programs: work of threads that a coroutine awaits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    # Programs that are not asynchronous do not import it.
    import asyncio

__all__ = ["batches_of_thread", "table_of_thread"]

T = TypeVar("T")


async def table_of_thread(read: Callable[[Callable[[int], object]], pa.Table]) -> pa.Table:
    """The table that a thread reads.

    Args:
        read: Reads the table, and calls its argument with the rows of each batch. After a cancellation, this call ends
            the read, which is not waited for.
    """
    import asyncio

    is_cancelled = False

    def seen(_: int) -> None:
        if is_cancelled:
            raise RuntimeError("the read was cancelled")

    try:
        return await asyncio.to_thread(read, seen)
    except asyncio.CancelledError:
        is_cancelled = True
        raise


async def batches_of_thread(make: Callable[[], Iterator[pa.RecordBatch]]) -> AsyncGenerator[pa.RecordBatch, None]:
    """The batches of an iterator that a thread makes and reads. The next batch is read while the program has the last
    one, and no further.

    At the end, after an exception, and where the generator is closed or its task cancelled, the iterator is closed. A
    batch that is being read then is not waited for.
    """
    import asyncio
    import contextvars
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1, "orcish")
    context = contextvars.copy_context()
    made: list[Iterator[pa.RecordBatch]] = []

    def call(function: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(pool, context.run, function)

    def first() -> pa.RecordBatch | None:
        made.append(iter(make()))
        return following()

    def following() -> pa.RecordBatch | None:
        return next(made[0], None)

    def close() -> None:
        # Closing a generator, or dropping the last reference to another iterator, ends its threads.
        rows = made.pop() if made else None
        if rows is not None and hasattr(rows, "close"):
            rows.close()

    ahead = None
    try:
        batch = await call(first)
        while batch is not None:
            ahead = call(following)
            yield batch
            # It is not kept while the next one is awaited.
            batch = None
            batch = await ahead
    finally:
        if ahead is not None:
            # Its exception is that of rows that nobody wants.
            ahead.add_done_callback(lambda done: done.cancelled() or done.exception())
            ahead.cancel()
        pool.submit(close)
        pool.shutdown(wait=False)
