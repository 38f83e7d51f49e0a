"""Reading from asynchronous programs: work of threads that a coroutine awaits."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    # Programs that are not asynchronous do not import it.
    import asyncio

__all__ = ["batches_of_thread", "in_thread", "table_of_thread"]

T = TypeVar("T")
P = ParamSpec("P")


class _Outcome(Generic[T]):
    """The result of a call, or its exception. Futures cannot have each exception: ``StopIteration`` would be one of the
    coroutine, and ``CancelledError`` would cancel it.
    """

    def __init__(self, call: Callable[[], T]) -> None:
        self._error: BaseException | None = None
        try:
            self._value = call()
        except BaseException as error:
            self._error = error

    def value(self) -> T:
        """The result.

        Raises:
            RuntimeError: The call raised an exception that means the end, or a cancellation, of a coroutine; its cause
                is that exception.
            BaseException: The exception of the call.
        """
        error, self._error = self._error, None
        if error is None:
            return self._value
        try:
            if isinstance(error, _ENDS) or type(error).__name__ == "CancelledError":
                raise RuntimeError(f"the source raised {type(error).__name__}") from error
            raise error
        finally:
            # The exception has this frame.
            error = None


_ENDS = StopIteration, StopAsyncIteration, GeneratorExit
"""Exceptions that mean the end of an iterator or coroutine to those that see them."""


async def in_thread(call: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
    """The result of a call by a thread.

    Raises:
        RuntimeError: The call raised an exception that means the end of a coroutine, such as ``StopIteration``.
        BaseException: Another exception of the call.
    """
    import asyncio

    outcome = await asyncio.to_thread(_Outcome, functools.partial(call, *arguments, **options))
    return outcome.value()


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
        return await in_thread(read, seen)
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

    def call(function: Callable[[], T]) -> asyncio.Future[_Outcome[T]]:
        return asyncio.get_running_loop().run_in_executor(pool, context.run, lambda: _Outcome(function))

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
        batch = (await call(first)).value()
        while batch is not None:
            ahead = call(following)
            yield batch
            # It is not kept while the next one is awaited.
            batch = None
            batch = (await ahead).value()
    finally:
        if ahead is not None:
            ahead.cancel()
        pool.submit(close)
        pool.shutdown(wait=False)
