"""Adaptation of the next departure to the measured load of the last one (argument `replan`).

While a module travels, the force of a drive, computed from its pressures, is compared with the load
that the compensation assumes:

    size = ∫ (F - F_0) (K - K_0) dt / ∫ (K - K_0)² dt        F force of the drive, K its known load, 0 at the push

is the least-squares factor between the actual and the known load. Before the next push
`slew_advance` and `luff_advance` move towards these factors by the share `learn`, which changes the
valve openings. That push waits until both angles have settled within `settled`, at most `patience`
after `pace`, which changes the pace. Both are actions of stage changes, which an FMU executes at
its event steps.
"""

from __future__ import annotations

from kinetree.models.library.carrier_parameters import Rows, Table

REPLAN: Rows = {
    "learn": (1.0, "1", "share of a measured size of the known load that the next departure takes"),
    "settled": (2e-5, "rad", "error of an angle below which it has settled, before the next push"),
    "patience": (1.0, "s", "time after pace for which the next push waits at most"),
}
DRIVES = {"slew": "slew_drive", "luff": "luff_drive"}
LEAST_LOAD_INTEGRAL = (
    1e5  # N².s or (N.m)².s: a known load whose square has a smaller integral tells no size
)
TRAVELS = "pushed > 0 and departed == 0"


def states() -> Table:
    """Return the states: drive force and known load at the last push, and the integrals of their
    comparison.
    """
    found: Table = {}
    for axis, drive in DRIVES.items():
        unit = "N.m" if axis == "slew" else "N"
        force, known = (
            f"({drive}.force - {axis}_force_then)",
            f"({drive}_known - {axis}_known_then)",
        )
        found |= {
            f"{axis}_force_then": {"rate": 0.0, "unit": unit, "text": f"force of {drive} at the last push"},
            f"{axis}_known_then": {"rate": 0.0, "unit": unit, "text": f"known load of {drive} then"},
            f"{axis}_matched": {"rate": f"if({TRAVELS}, {force}*{known}, 0)"},
            f"{axis}_square": {"rate": f"if({TRAVELS}, {known}*{known}, 0)"},
            f"{axis}_size": {
                "rate": 0.0,
                "start": f"{axis}_advance",
                "unit": "1",
                "text": f"part of the known load of {drive} that the last departure has had",
            },
        }  # fmt: skip
    return found


def remembered() -> Table:
    """Return what is set when a push begins: forces and known loads, with the integrals reset to
    zero.
    """
    found: Table = {}
    for axis, drive in DRIVES.items():
        found |= {
            f"{axis}_force_then": f"{drive}.force",
            f"{axis}_known_then": f"{drive}_known",
            f"{axis}_matched": 0.0,
            f"{axis}_square": 0.0,
        }
    return found


def size(axis: str) -> str:
    """Return the load factor measured in the last departure; the previous value if the load was too
    small.
    """
    square = f"{axis}_square"
    return f"if({square} > {LEAST_LOAD_INTEGRAL}, {axis}_matched/max({square}, {LEAST_LOAD_INTEGRAL}), {axis}_size)"


def plan() -> Table:
    """Return what is set before the next push: measured load factors, and the valve openings that
    follow from them.
    """
    sizes = {f"{axis}_size": size(axis) for axis in DRIVES}
    return sizes | {
        f"{axis}_advance": f"(1 - learn)*{axis}_advance + learn*({size(axis)})" for axis in DRIVES
    }


def end_of_swing() -> Table:
    """Return the condition for the next push: angles settled, or patience exceeded."""
    after = "t - stage_start"
    errors = " and ".join(f"abs({axis}_target - {axis}) < settled" for axis in DRIVES)
    return {"when": f"{after} > pace and ({errors} or {after} > pace + patience)"}
