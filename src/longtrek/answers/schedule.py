"""In what order requests go out, and how many at once."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def send_order(items: Sequence[Item], prefix: Callable[[Item], str], size: Callable[[Item], int]) -> list[Item]:
    """Order items so that those that share a non-empty prefix are neighbours and the longest come first.

    Groups go by their longest member, members by their own size; ties keep the given order. The longest first
    so that no long answer is left to run alone at the end.
    """
    groups: dict[tuple[str, int], list[tuple[int, Item]]] = {}
    for index, item in enumerate(items):
        shared = prefix(item)
        groups.setdefault((shared, -1) if shared else ("", index), []).append((index, item))
    for members in groups.values():
        members.sort(key=lambda member: (-size(member[1]), member[0]))
    ordered = sorted(groups.values(), key=lambda members: (-size(members[0][1]), members[0][0]))
    return [item for members in ordered for _, item in members]


class Gate:
    """Admits requests while their number and the tokens they may hold at once stay within bounds.

    A request that is larger than the whole bound is admitted alone. Entry is for one dispatcher at a time, in
    its order, so a large request is never overtaken forever.
    """

    def __init__(self, max_requests: int, max_tokens: int) -> None:
        self._max_requests = max_requests
        self._max_tokens = max_tokens
        self._left = asyncio.Event()
        self.requests = 0
        self.tokens = 0

    async def enter(self, tokens: int) -> None:
        """Wait until one more request of `tokens` fits, and count it in."""
        while self.requests and not self._fits(tokens):
            self._left.clear()
            await self._left.wait()
        self.requests += 1
        self.tokens += tokens

    def leave(self, tokens: int) -> None:
        """Count a finished request out."""
        self.requests -= 1
        self.tokens -= tokens
        self._left.set()

    def _fits(self, tokens: int) -> bool:
        return self.requests < self._max_requests and self.tokens + tokens <= self._max_tokens
