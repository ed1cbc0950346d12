"""Speeds that event actions set, directly or through their coordinates; the engine solves for them
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def set_speeds(
    actions: Sequence[tuple[int, int, int]], joints: Mapping[str, Sequence[int]]
) -> list[int]:
    """Return the indices of the set speeds, ascending; a joint with a quaternion is set as a whole."""
    q_at, u_at, u_q, u_body = joints["q_at"], joints["u_at"], joints["u_q"], joints["u_body"]
    coordinates, speeds = q_at[-1], u_at[-1]
    of_coordinate = {q: [j] for j, q in enumerate(u_q) if q >= 0}
    body_of = {q: i for i in set(u_body) if u_q[u_at[i]] < 0 for q in range(q_at[i], q_at[i + 1])}
    found: set[int] = set()
    for entry, _, _ in actions:
        if coordinates <= entry < coordinates + speeds:
            found.add(entry - coordinates)
        elif 0 <= entry < coordinates:
            i = body_of.get(entry)
            found.update(of_coordinate[entry] if i is None else range(u_at[i], u_at[i + 1]))
    return sorted(found)
