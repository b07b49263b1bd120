"""Work of an event loop: to its end, and side by side."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds that a call which can not be written to any more has for telling why.
GRACE = 1.0


async def side_by_side(
    main: Coroutine[Any, Any, None], other: Coroutine[Any, Any, None], grace: float = 0.0
) -> None:
    """Do two things at a time until the main one ends, or one of them fails.

    Parameters
    ----------
    main : coroutine
        When it ends, the other is cancelled.
    other : coroutine
        It may end earlier. If it fails, its error is raised, unless the main work ends within the
        grace: when a connection breaks, who reads knows better why than who writes.
    grace : float
        Seconds.
    """
    tasks = first, second = asyncio.create_task(main), asyncio.create_task(other)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if second.done() and (error := second.exception()) is not None:
            await asyncio.wait([first], timeout=grace)
            if not first.done():
                raise error
        await first
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what some work gives; also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
