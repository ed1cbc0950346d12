"""The spanning tree of a mechanism as a small SVG picture: bodies as boxes below their parents,
joints as labels on the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, GAP, DROP = 110, 26, 14, 58
MAX_BOXES = 120  # boxes; larger trees are cut


def tree_svg(bodies: Sequence[str], parents: Sequence[int], joints: Sequence[str]) -> str:
    """Return the SVG picture of bodies 1.., given the number of each parent (0: ground) and the
    joint to it; leaves side by side, parents above the middle of their children.
    """
    count = min(len(bodies), MAX_BOXES)
    children: list[list[int]] = [[] for _ in range(count + 1)]
    depth = [0] * (count + 1)
    for i in range(1, count + 1):
        children[parents[i - 1]].append(i)
        depth[i] = depth[parents[i - 1]] + 1
    column = [0.0] * (count + 1)
    free = 0
    for i in order_of_leaves(children):
        column[i] = free
        free += 1
    for i in range(count, -1, -1):
        if children[i]:
            column[i] = (column[children[i][0]] + column[children[i][-1]]) / 2
    width, height = (
        max(free, 1) * (WIDTH + GAP) + GAP,
        (max(depth) + 1) * (HEIGHT + DROP) - DROP + 2 * GAP,
    )

    def place(i: int) -> tuple[float, float]:
        return GAP + column[i] * (WIDTH + GAP), GAP + depth[i] * (HEIGHT + DROP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" font-family="sans-serif" font-size="11">'
    ]
    for i in range(1, count + 1):
        (x, y), (px, py) = place(i), place(parents[i - 1])
        parts.append(
            f'<path d="M{px + WIDTH / 2:.0f} {py + HEIGHT}L{x + WIDTH / 2:.0f} {y:.0f}" stroke="#667" fill="none"/>'
        )
        middle = ((px + x + WIDTH) / 2, (py + HEIGHT + y) / 2 + 4)
        parts.append(
            f'<text x="{middle[0]:.0f}" y="{middle[1]:.0f}" text-anchor="middle" fill="#357">{escape(short(joints[i - 1]))}</text>'
        )
    for i in range(count + 1):
        x, y = place(i)
        colour = "#dde3ea" if i else "#c9b98f"
        name = bodies[i - 1] if i else "ground"
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="{colour}" stroke="#667"/>'
        )
        parts.append(
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + 17:.0f}" text-anchor="middle">{escape(short(name))}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def order_of_leaves(children: list[list[int]]) -> list[int]:
    """Return the bodies without children from left to right."""
    found, waiting = [], [0]
    while waiting:
        i = waiting.pop()
        if not children[i]:
            found.append(i)
        waiting += reversed(children[i])
    return found


def short(name: str, most: int = 16) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
