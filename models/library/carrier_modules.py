"""The payload modules of the carriers: rails, latches, push forces, guidance, the order of
departures and the schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.models.library import carrier_cradle, carrier_replan
from kinetree.models.library.carrier_parameters import Table

if TYPE_CHECKING:
    from kinetree.models.library.carrier_parts import Settings

COLUMNS = {1: 5, 2: 3}  # modules side by side in a pack, by the number of packs
APART = 4.0  # distance of two packs in orders of departure, more than a pack is wide [pitches]
REACH = 1.6  # of a module's middle at rest before the hinge [m]
LOWEST, RECOIL_HEIGHT = (
    0.9,
    0.3,
)  # heights in the cradle's frame: of the lowest row, and where the load after a departure acts [m]
ORDERS = ("rows", "outer", "inner", "alternating")
BLAST = 'departed*blast_factor*table("blast", t - stage_start)'
STRAIGHT = 1e-10  # square of the angle below which a module counts as in line with its rail [rad²]


def push_of(factor: str) -> str:
    """Return the push force of a module, its table multiplied by a factor."""
    return f'{factor}*table("push", t - stage_start)'


PUSH = push_of("push_factor")


class Cell(NamedTuple):
    """Where a module lies: column, counted from the middle of its pack to the left, row from the
    lowest one, and side of its pack: -1 right, 1 left, 0 the only one.
    """

    column: float
    row: int
    pack: int = 0

    @property
    def side(self) -> float:
        """Return the distance from the middle plane to the left, for orders [pitches]."""
        return 0.5 * APART * self.pack + self.column

    @property
    def aside(self) -> str:
        """Return the distance from the middle plane to the left [m], an expression."""
        within = f"{self.column}*module_pitch"
        return f"{self.middle} + {within}" if self.pack else within

    @property
    def middle(self) -> str:
        """Return the distance of its pack from the middle plane to the left [m], an expression."""
        return f"{0.5 * self.pack}*pack_distance" if self.pack else "0"


def cell(i: int, n: int, packs: int = 1) -> Cell:
    """Return where module i of n lies: rows of five in one pack, of three in two, the lowest row
    first, each in the middle of its pack; the right one of two packs has the first modules.
    """
    first = (n + 1) // 2 if packs == 2 else n
    pack = 0 if packs == 1 else -1 if i <= first else 1
    before, own = (first, n - first) if pack > 0 else (0, first)
    columns = COLUMNS[packs]
    row, column = divmod(i - before - 1, columns)
    return Cell(column - (min(columns, own - row * columns) - 1) / 2, row, pack)


def place(i: int, on: Settings) -> list[Any]:
    """Return the initial centre of module i on the cradle."""
    at = cell(i, on.n, on.packs)
    return [REACH, at.aside, f"{LOWEST} + {at.row}*module_pitch"]


def departures(n: int, order: Any, packs: int = 1) -> list[int]:
    """Return the modules in the order of departure: by a rule (name or number of rows, outer,
    inner, alternating) or a list of their numbers. By rows, one pack leaves after the other.
    """
    if isinstance(order, (list, tuple)):
        listed = [int(i) if i == int(i) else 0 for i in order]
        if sorted(listed) != list(range(1, n + 1)):
            raise ValueError(f"order is {list(order)}, expected every number from 1 to {n} once")
        return listed
    rule = ORDERS[int(order)] if order in range(len(ORDERS)) else order
    if rule not in ORDERS:
        raise ValueError(
            f"order is {order!r}, expected {', '.join(f'{k} ({name})' for k, name in enumerate(ORDERS))}, or a list of numbers"
        )
    numbers = range(1, n + 1)
    at = {i: cell(i, n, packs) for i in numbers}
    if rule == "rows":
        return list(numbers)
    if (
        rule == "alternating"
    ):  # right and left in turn, so that the cradle is not turned twice in the same sense
        sides = [
            sorted(
                (i for i in numbers if (at[i].side <= 0) == right),
                key=lambda i: -abs(at[i].side),
            )
            for right in (True, False)
        ]
        pairs = [side[k] for k in range(n) for side in sides if k < len(side)]
        return pairs
    away = -1 if rule == "outer" else 1
    return sorted(numbers, key=lambda i: (away * abs(at[i].side), at[i].row))


def rail(i: int, on: Settings) -> Table:
    """Return the joint of a module on its rail: travel s and small angles; with the full setting
    also lateral shifts and roll.
    """
    start = carrier_cradle.rail_place(on, place(i, on))
    steps: list[Table] = [{"shift": start["point"]}, {"shift": "x", "coordinate": f"s{i}"}]
    if on.helical:
        steps.append({"rotate": "x", "coordinate": f"s{i}", "factor": "2*pi/helix_pitch"})
    if on.full:
        steps += [
            {"shift": "y", "coordinate": f"across{i}"},
            {"shift": "z", "coordinate": f"above{i}"},
            {"rotate": "x", "coordinate": f"twist{i}"},
        ]
    turns = [{"rotate": "y", "coordinate": f"tilt{i}"}, {"rotate": "z", "coordinate": f"turn{i}"}]
    return {"parent": start["body"], "child": f"module{i}", "transforms": [*steps, *turns]}


def module_forces(i: int, on: Settings) -> Table:
    """Return latch, push force, friction and elastic guidance of a module; with contacts those of
    pin and band with the rail.
    """
    forces: Table = {
        f"latch{i}": {
            "coordinate": f"s{i}",
            "law": "latch",
            "damping": f"latch_damping*(1 - min(max(s{i}/0.01, 0), 1))",
        },
        f"push{i}": {"coordinate": f"s{i}", "value": f"if(pushed == {i}, {PUSH}, 0)"},
        f"rub{i}": {"coordinate": f"s{i}", "coulomb": "rail_friction", "speed": 0.05},
    }
    turns = ["tilt", "turn"] + (["twist"] if on.full else [])
    held = [(way, "tilt") for way in turns] + (
        [("across", "guide"), ("above", "guide")] if on.full else []
    )
    if (
        on.helical and on.contacts and on.full
    ):  # the twist is what the clearance of pin and groove leaves
        held.remove(("twist", "tilt"))
        forces[f"groove{i}"] = {"coordinate": f"twist{i}", "value": groove(i)}
    for way, law in held:
        share = (
            "guide_share*" if on.contacts and way != "twist" else ""
        )  # nothing else holds the twist of a module on round pins
        forces[f"{way}_spring{i}"] = {
            "coordinate": f"{way}{i}",
            "stiffness": f"{share}{law}_stiffness",
            "damping": f"{share}{law}_damping",
        }
    if on.contacts:
        start = carrier_cradle.rail_place(on, place(i, on))
        pin = {} if on.helical else {"across": "z"}  # a helical groove turns with the module
        for name, at, more in (("pin", "band", pin), ("bearing", "-band", {})):
            forces[f"{name}{i}"] = {
                "kind": "rail", "between": [start, {"body": f"module{i}", "point": [at, 0, 0]}],
                "stiffness": "guide_stiffness", "damping": "guide_damping", "clearance": "clearance", "begin": "-module_length",
                "end": "rail_length + module_length/2 - band", **more,
            }  # fmt: skip
    return forces


def groove(i: int) -> str:
    """Return the moment of a helical groove on a module's pin: zero within the clearance, else an
    elastic contact with damping at the pin's radius.
    """
    play, twist = "clearance/pin_radius", f"twist{i}"
    beyond = f"(max({twist} - {play}, 0) + min({twist} + {play}, 0))"
    rubs = f"if(abs({twist}) > {play}, guide_damping*der({twist}), 0)"
    return f"-pin_radius**2*(guide_stiffness*{beyond} + {rubs})"


def recoil(on: Settings) -> Table:
    """Return the load on the cradle after a departure: over time, or, one force per module, over
    the distance of the module from its rail and the angle between both.
    """
    x, y, z = carrier_cradle.MOUTH
    if not on.blast_field:
        point = [x, "blast_side" if on.packs > 1 else y, z]
        return {"recoil": recoil_force(on, point, BLAST)}
    forces: Table = {}
    for i in range(1, on.n + 1):
        turned = " + ".join(f"blast_turn{i}[{axis}]**2" for axis in (2, 3))
        load = f'table("blast_field", blast_distance{i}, sqrt(max({turned}, {STRAIGHT})))'
        point = [x, cell(i, on.n, on.packs).middle, z]
        forces[f"recoil{i}"] = {
            **recoil_force(on, point, f"if(departed*pushed == {i}, blast_factor*{load}, 0)"),
            "leaves_with": [f"module{i}"],
        }
    return forces


def recoil_force(on: Settings, point: list[Any], load: str) -> Table:
    """Return the force of a load [N] on the cradle at a point, against the rails."""
    place = carrier_cradle.rail_place(on, point)
    return {**place, "frame": "body", "force": [f"-{load}", 0, 0]}


def recoil_outputs(on: Settings) -> Table:
    """Return what the load after a departure depends on: distance of the rear of a module from
    where its rail ends, and turns of the module against the rail; and that load.
    """
    found: Table = {}
    for i in range(1, on.n * on.blast_field + 1):
        _, y, z = place(i, on)
        end = carrier_cradle.rail_place(on, [f"{REACH} + rail_length - 0.5*module_length", y, z])
        rear = {"body": f"module{i}", "point": ["-0.5*module_length", 0, 0]}
        rails = {"reference": {"body": end["body"]}}
        found |= {
            f"blast_distance{i}": {"quantity": "distance", "between": [rear, end]},
            f"blast_turn{i}": {"quantity": "angles", "body": f"module{i}", **rails},
            f"blast_load{i}": {"quantity": "force", "force": f"recoil{i}"},
        }
    return found


def tables(on: Settings) -> Table:
    """Return the tables of latch force over elongation, and of push force and blast over time, or of
    blast over distance and angle.
    """
    opens = "latch_strength/latch_stiffness"
    field = {
        "x": [0, 0.2, 1.0, 1.5],
        "y": [0, 0.1, 0.3],
        "z": [[0, 0, 0], [2000, 1700, 600], [2000, 1500, 300], [0, 0, 0]],
        "method": "monotone",
    }
    return {
        "latch": {
            "x": ["-0.1", 0, opens, f"2*{opens}"],
            "y": ["-0.1*latch_stiffness", 0, "latch_strength", 0],
        },
        "push": {"x": [0, 0.1, 0.4, 1.0, 1.2], "y": [0, 4000, 4000, 1500, 1500]},
        "blast": {"x": [0, 0.02, 0.1, 0.15], "y": [0, 2000, 2000, 0]},
        **({"blast_field": field} if on.blast_field else {}),
    }


def schedule(on: Settings) -> list[Table]:
    """Return the stages: rest, then for every module travel on its rail and free swing of the
    carrier.
    """
    order, replan = on.order, on.replan
    begin = carrier_replan.remembered() if replan else {}
    ends = carrier_replan.end_of_swing() if replan else {"after": "pace"}
    stages: list[Table] = [
        {"name": "rest", "ends": {"after": "pause"}, "set": {"pushed": order[0]} | begin}
    ]
    for gone, (i, following) in enumerate(zip(order, [*order[1:], 0], strict=True), 1):
        aside = {"blast_side": cell(i, on.n, on.packs).middle} if on.packs > 1 else {}
        stages += [
            {
                "name": f"travel {i}",
                "phase": f"departure {gone}",
                "ends": {"when": f"s{i} > rail_length"},
                "free": [f"rail{i}"],
                "set": {"departed": 1, "gone": gone} | aside,
            },
            {
                "name": f"swing {i}",
                "phase": f"departure {gone}",
                "ends": ends,
                "drop": [f"module{i}"],
                "set": {"departed": 0, "pushed": following}
                | (carrier_replan.plan() | begin if replan else {}),
            },
        ]
    return stages
