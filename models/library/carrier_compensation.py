"""Feed-forward of the carrier's drives: valve openings over time, and openings that compensate the
known load of a departure.

The known load follows from the tables of push and blast forces, the mass of a module and the
schedule; it passes a lag `known_lag`. Openings over time (`forward`) are interpolated between knots
every FORWARD s after a push and after a departure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.library import carrier_modules, carrier_observer
from kinetree.models.library.carrier_parameters import Rows, Table

if TYPE_CHECKING:
    from kinetree.models.library.carrier_drives import Drive
    from kinetree.models.library.carrier_parts import Settings

ADVANCE: Rows = {
    "advance": (0.0, "1", "part of the known load of the departures that the drives compensate"),
    "slew_advance": (1.0, "1", "the same for the slewing drive, on top"),
    "luff_advance": (1.0, "1", "the same for the luffing drive"),
    "known_lag": (0.02, "s", "lag of that compensation"),
    "known_mass": ("module_mass", "kg", "mass of a module that it foresees"),
    "known_push": ("push_factor", "1", "factor on the push of a module that it foresees"),
}
TRAVELS = "pushed > 0 and departed == 0"
FORWARD, PUSHED, LEFT = (
    0.05,
    10,
    9,
)  # s between knots of the forward openings, their number after a push and from a departure on


def forward(drive: Drive) -> str:
    """Return the interpolated valve opening; slewing openings are per module_pitch of the module's
    lateral position.
    """
    after = "(t - stage_start)"

    def between(first: int, count: int, shift: int) -> str:
        knots = (
            f"{drive.axis}_forward_{first + k}*max(0, 1 - abs({after}/{FORWARD} - {k + shift}))"
            for k in range(count)
        )
        return " + ".join(knots)

    side = (
        "" if drive.axis == "luff" else f'{drive.sense}*table("known_side", pushed)/module_pitch*'
    )
    return f"{side}if({TRAVELS}, {between(1, PUSHED, 1)}, if(departed == 1, {between(PUSHED + 1, LEFT, 0)}, 0))"


def ahead(drive: Drive, known: str) -> str:
    """Return the valve opening that compensates the known load."""
    return f"advance*{drive.axis}_advance*({known})/if({known} > 0, {', '.join(open_rates(drive))})"


def open_rates(drive: Drive) -> tuple[str, str]:
    """Return the rates of the drive force with the valve fully open: for positive and for negative
    spool position.
    """
    label, axis = drive.label, drive.axis
    oil = {"a": f"{axis}_oil", "b": f"{axis}_oil"}
    if drive.eyes is not None:
        shortest, longest = drive.stroke
        oil = {
            "a": f"({axis}_oil + {axis}_area_a*({label}.length - {shortest}))",
            "b": f"({axis}_oil + {axis}_area_b*({longest} - {label}.length))",
        }

    def rate(edges: dict[str, str]) -> str:
        parts = (
            f"{axis}_area_{side}*sqrt(max({edge.format(f'{label}_{side}.pressure')}, 1e5))/{oil[side]}"
            for side, edge in edges.items()
        )
        return f"drive_modulus*rated_flow/sqrt(35e5)*({' + '.join(parts)})"

    return rate({"a": "supply - {}", "b": "{} - tank"}), rate(
        {"a": "{} - tank", "b": "supply - {}"}
    )


def foreseen(on: Settings) -> tuple[str, str]:
    """Return mass and push force of a module as the drives assume them: from parameters, or from an
    observer.
    """
    mass, factor = (
        (f"{carrier_observer.NAME}.module_mass", f"{carrier_observer.NAME}.push_factor")
        if on.estimated
        else ("known_mass", "known_push")
    )
    return mass, carrier_modules.push_of(factor)


def known_states(on: Settings) -> Table:
    """Return the states for speed and travel of a module as predicted by the tables; between two
    pushes they return to zero.
    """
    mass, push = foreseen(on)
    driven = f"({push} - rail_friction)/{mass} - g*sin(luff)"
    moves = f"known_travel > 0.002 or {push} > latch_strength"
    back = "-known_{}/0.02"
    return {
        "known_speed": {
            "rate": f"if({TRAVELS}, if({moves}, {driven}, 0), {back.format('speed')})",
            "unit": "m/s",
        },
        "known_travel": {
            "rate": f"if({TRAVELS}, known_speed, {back.format('travel')})",
            "unit": "m",
        },
    }


def known_force(drive: Drive, count: int, on: Settings) -> str:
    """Return the predicted load of a departure: push force, weight of moving or departed modules,
    blast afterwards.
    """
    mass, whole = foreseen(on)
    push = f"if({TRAVELS}, min(known_travel/0.002, 1)*({whole} - rail_friction), 0)"
    if drive.axis == "slew":
        moment = f'table("known_side", pushed)*{push}'
        if on.packs > 1:
            moment = f"({moment} + blast_side*{carrier_modules.BLAST})"
        return f"-{drive.sense}*cos(luff)*{moment}/({count - 1}*abs({drive.lever('slew')}))"
    weight = f"{mass}*g*cos(luff)*(gone*{carrier_modules.REACH} - if({TRAVELS}, known_travel, 0))"
    height = f'table("known_height", pushed)*{push} + {carrier_modules.RECOIL_HEIGHT}*{carrier_modules.BLAST}'
    return f"-({weight} + {height})/({drive.lever('luff')})"


def tables(on: Settings) -> Table:
    """Return the tables that give the position of the pushed module by its number."""
    if not on.controlled:
        return {}
    foreseen = dict(
        zip(on.order, on.known_order, strict=True)
    )  # who is thought to leave when this one does
    places = [carrier_modules.cell(foreseen[i], on.n, on.packs) for i in range(1, on.n + 1)]
    numbers = list(range(on.n + 1))
    return {
        "known_side": {"x": numbers, "y": [0, *(at.aside for at in places)]},
        "known_height": {
            "x": numbers,
            "y": [0, *(f"{carrier_modules.LOWEST} + {at.row}*module_pitch" for at in places)],
        },
    }


def rows() -> Rows:
    """Return the parameters of the feed-forward openings."""
    found: Rows = {}
    for k in range(1, PUSHED + LEFT + 1):
        after = (
            f"{FORWARD * k:.3g} s after a push"
            if k <= PUSHED
            else f"{FORWARD * (k - PUSHED - 1):.3g} s after a departure"
        )
        found |= {
            f"{axis}_forward_{k}": (0.0, "1", f"opening of the {axis}ing valves {after}")
            for axis in ("slew", "luff")
        }
    return found
