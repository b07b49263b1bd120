"""Work of an event loop: to its end, and side by side."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


async def side_by_side(main: Coroutine[Any, Any, None], other: Coroutine[Any, Any, None]) -> None:
    """Do two things at a time until the main one ends, or one of them fails.

    Parameters
    ----------
    main : coroutine
        When it ends, the other is cancelled.
    other : coroutine
        It may end earlier. If it fails, its error is raised.
    """
    tasks = first, second = asyncio.create_task(main), asyncio.create_task(other)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if second.done() and not first.done():
            await second
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
