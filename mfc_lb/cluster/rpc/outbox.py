"""What waits to be sent: whoever sends takes all of it at once."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")

#: Most items of one message, such that it stays below the largest size that is accepted.
LARGEST_BATCH = 250


class Outbox(Generic[T]):
    """Items for one receiver, in order.

    Items that are put while a message is on its way go together into the next: the busier the
    cluster, the larger its messages.
    """

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._changed = asyncio.Event()
        self._closed = False
        self._error: BaseException | None = None

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be put."""
        return self._closed

    def put(self, item: T) -> None:
        """Add an item; after the end, nothing happens."""
        if not self._closed:
            self._items.append(item)
            self._changed.set()

    def close(self, error: BaseException | None = None) -> None:
        """End here, with an error if there is one; what was put before is still sent."""
        if not self._closed:
            self._closed, self._error = True, error
            self._changed.set()

    async def batches(self) -> AsyncIterator[list[T]]:
        """Yield items as they come, until the end; then raise its error.

        Yields
        ------
        list
            At least one item, at most `LARGEST_BATCH`.
        """
        while not (self._closed and not self._items):
            await self._changed.wait()
            while self._items:
                yield self._take()
            if not self._closed:
                self._changed.clear()
        if self._error is not None:
            raise self._error

    def _take(self) -> list[T]:
        batch = list(islice(self._items, LARGEST_BATCH))
        for _ in batch:
            self._items.popleft()
        return batch
