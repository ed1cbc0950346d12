"""Splitting of long straight-line code into functions that pass values in an array.

The order of a tape is that of the passes over the tree, body by body: a block covers some bodies
and ends where the fewest values have to be passed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

BLOCK = 2_000
MAX_UNSPLIT_ITEMS = 15_000  # items up to which nothing is cut
FREE = 0.5  # part of a block within which the cut may move


@dataclass
class Block:
    """Items evaluated together, with the array positions that they read from and write to for other
    blocks.
    """

    items: list[int]
    reads: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)


def blocks(
    order: Sequence[int],
    needs: Mapping[int, Sequence[int]],
    size: int = BLOCK,
    whole: int = MAX_UNSPLIT_ITEMS,
) -> tuple[list[Block], int]:
    """Return items in dependency order as blocks, and the array size; up to `whole` items remain
    one block.
    """
    if len(order) <= whole:
        return [Block(list(order))], 0
    place = {item: k for k, item in enumerate(order)}
    last = {item: k for k, item in enumerate(order)}
    for k, item in enumerate(order):
        for each in needs[item]:
            last[each] = k
    ends = cuts([last[item] for item in order], size)
    found = [
        Block(list(order[begin:end]))
        for begin, end in zip([0, *ends], [*ends, len(order)], strict=True)
    ]
    return found, share(found, ends, needs, place, last)


def cuts(last: Sequence[int], size: int) -> list[int]:
    """Return the block ends at which the fewest values have to be passed on."""
    count = len(last)
    open_at, change = (
        [0] * (count + 1),
        [0] * (count + 2),
    )  # items before k that are needed at k or behind it
    for k, end in enumerate(last):
        change[k + 1] += 1
        change[end + 1] -= 1
    for k in range(1, count + 1):
        open_at[k] = open_at[k - 1] + change[k]
    found, begin = [], 0
    while count - begin > (1.0 + FREE) * size:
        first = begin + round((1.0 - FREE) * size)
        begin = min(
            range(first, begin + round((1.0 + FREE) * size)), key=lambda k: (open_at[k], -k)
        )
        found.append(begin)
    return found


def share(
    found: Sequence[Block],
    ends: Sequence[int],
    needs: Mapping[int, Sequence[int]],
    place: Mapping[int, int],
    last: Mapping[int, int],
) -> int:
    """Assign array positions to the values that cross blocks and return the array size; a position
    is reused after its last reader.
    """
    free: list[int] = []
    taken = 0
    leaving: dict[int, list[int]] = {}  # block -> places that are free behind it
    at: dict[int, int] = {}
    limits = [*ends, len(place)]
    for number, block in enumerate(found):
        begin = limits[number - 1] if number else 0
        for item in block.items:
            for each in needs[item]:
                if place[each] < begin:
                    block.reads[each] = at[each]
        for item in block.items:
            if last[item] >= limits[number]:
                if free:
                    at[item] = heappop(free)
                else:
                    at[item], taken = taken, taken + 1
                block.writes[item] = at[item]
                end = next(k for k in range(number, len(limits)) if last[item] < limits[k])
                leaving.setdefault(end, []).append(at[item])
        for each in leaving.pop(number, ()):
            heappush(free, each)
    return taken
