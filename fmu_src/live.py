"""Data of a page that simulates a mechanism while it is shown: the scene, the engine as
WebAssembly, and the model as bytes.

The page reads positions and values directly from the memory of the engine, at offsets that this
module writes into the page.
"""

from __future__ import annotations

import gzip
import math
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kinetree.fmu.archive.payload import payload, token_of
from kinetree.fmu.source.webassembly import engine_module
from kinetree.fmu.unit import FmuUnit, fmu_unit
from kinetree.fmu.variables import Access, FmuError, Table, Type, Variable, variable_table
from kinetree.models.description.joints import joint_elements
from kinetree.models.language.units.unit_of_measure import parse_unit
from kinetree.models.scene import flexible_shapes
from kinetree.models.scene.attachments import Numbers
from kinetree.models.scene.make_scenes import start_scene
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import REGISTERS, WORK_AT
from kinetree.solvers.model_records import HEAD

if TYPE_CHECKING:
    from kinetree.models.system.mechanism import Mechanism

MAX_PLOTTED_VARIABLES = 200
READ_AS = {
    "Pa": "bar",
    "m3/s": "l/min",
}  # units in which engineers read quantities without a unit of their own
QUATERNION = (".qw", ".qx", ".qy", ".qz")  # ends of names that do not move one by one
SECONDARY = ("energy", "solver_steps", "constraint_residual", "lost_energy")


def live_data(
    mechanism: Mechanism,
    stop_time: float | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Return the scene of a mechanism at its start, with all data that the page needs for the
    simulation.
    """
    if mechanism.description.chain is not None:
        raise FmuError("a linear chain has no live page: take --html without --live")
    unit = fmu_unit(mechanism)
    table = variable_table(unit)
    token = token_of(unit, table)
    data = start_scene(unit.system).data()
    data["arrows"] = [arrow for arrow in data["arrows"] if arrow["kind"] == "contact"]
    clip = data["clips"][0]
    clip["vectors"], clip["plots"] = [None] * len(data["arrows"]), []
    data["live"] = {
        "engine": packed(engine_module(say)),
        "model": packed(payload(unit, table, token)),
        "token": token,
        "start_time": unit.run.start_time,
        "stop_time": stop_time or unit.run.stop_time,
        "places": {
            name: U.UNIT_HEAD.at(name) for name in ("time", "stage", "events", "event_time")
        },
        "row": {"position": L.W_P, "rotation": L.W_R},
        "stages": [stage_places(unit, data, k) for k in range(len(unit.stage_names))],
        "fibres": flexible_shapes.fibres(
            unit.description, [each["name"] for each in data["bodies"]]
        ),
        "joints": joints_of(unit, [each["name"] for each in data["bodies"]]),
        "mass": sum(body["mass"] for body in data["bodies"]),
        "variables": plotted(unit, table),
        "controls": controls(unit, table, data["size"]),
    }
    return data


def packed(content: bytes) -> str:
    """Return bytes compressed by gzip in base64 encoding."""
    return b64encode(gzip.compress(content, 9, mtime=0)).decode()


def stage_places(unit: FmuUnit, data: Mapping[str, Any], stage: int) -> dict[str, Any]:
    """Return the memory offsets of body positions, of force elements (-1: not in this stage) and of
    the user's loads in a stage.
    """
    compiled = unit.compiled[stage]
    record = U.STAGE.of(unit.ints[U.UNIT.size + U.STAGE.size * stage :])
    workspace = int(unit.header.at_workspace)

    def field_at(name: str) -> int:
        return workspace + int(unit.ints[int(record.ints) + WORK_AT[name]])

    number = {name: k for k, name in enumerate(compiled.bodies, 1)}

    def force_at(label: str) -> int:
        register = compiled.registers.get(
            f"force('{label}')", compiled.registers.get(f"{label}.force")
        )
        return -1 if register is None else workspace + REGISTERS + register

    names = [body["name"] for body in data["bodies"]]
    return {
        "name": unit.stage_names[stage],
        "bodies": [field_at("row") + L.ROW * number[n] if n in number else -1 for n in names],
        "loads": [field_at("extra") + 6 * number[n] if n in number else -1 for n in names],
        "loaded": workspace + HEAD.at("extra"),
        "modes": [
            field_at("q") + compiled.coordinates.index(f"{skin['body']}.mode1")
            if f"{skin['body']}.mode1" in compiled.coordinates
            else -1
            for skin in data["skins"]
        ],
        "lines": [force_at(line["name"]) for line in data["lines"]],
        "arrows": [force_at(arrow["name"]) for arrow in data["arrows"]],
    }


def joints_of(unit: FmuUnit, bodies: list[str]) -> list[dict[str, Any]]:
    """Return by body the coordinates of the joints that carry it, and the body before it (-1: the ground)."""
    number = {name: k for k, name in enumerate(bodies)}
    found: list[dict[str, Any]] = [{"coordinates": [], "parent": -1} for _ in bodies]
    for label, joint in unit.description.joints.items():
        if joint.child not in number:
            continue
        names = joint_elements(joint, label).coordinates
        carried = found[number[joint.child]]
        carried["coordinates"] += [n for n in names if not n.endswith(QUATERNION)]
        if carried["parent"] < 0:
            carried["parent"] = number.get(joint.parent, -1)
    return found


def display(variable: Variable) -> dict[str, Any]:
    """Return the display unit of a variable and its conversion: value = (SI - offset) * scale."""
    name = variable.display_unit or READ_AS.get(variable.unit, variable.unit)
    unit = parse_unit(name) if name and name != variable.unit else None
    return {
        "unit": "" if name == "1" else name,
        "scale": 1.0 / unit.factor if unit else 1.0,
        "offset": unit.offset if unit else 0.0,
    }


def plotted(unit: FmuUnit, table: Table) -> list[dict[str, Any]]:
    """Return the variables that the page can plot: outputs of the description, then coordinates,
    then others.
    """
    outputs, states = unit.description.outputs, set(unit.system.coordinates)

    def rank(variable: Variable) -> int:
        if variable.name.partition("[")[0] in outputs:
            return 0
        if variable.name in states:
            return 1
        return 3 if variable.name.startswith(SECONDARY) else 2

    wanted = [
        v
        for v in table.variables
        if v.type == Type.REAL
        and v.at >= 0
        and v.causality in ("output", "local")
        and v.variability == "continuous"
        and not v.name.startswith("event_indicator")
        and v.name not in ("time",)
    ]
    wanted.sort(key=rank)
    return [
        {
            "name": unit.description.report.names.get(v.name, v.name),
            "text": v.text,
            "at": v.at,
            "first": not v.name.startswith(SECONDARY),
            **display(v),
        }
        for v in wanted[:MAX_PLOTTED_VARIABLES]
    ]


def controls(unit: FmuUnit, table: Table, size: float) -> list[dict[str, Any]]:
    """Return the variables that the user can change: inputs and tunable parameters at any time,
    start values and fixed parameters before a restart.
    """
    groups = {
        Access.INPUT: "inputs",
        Access.TUNABLE: "parameters",
        Access.START: "start",
        Access.FIXED: "fixed",
    }
    found = []
    for number, v in table.numbered():
        group = groups.get(v.access)
        if group is None or v.type != Type.REAL or v.start is None or not math.isfinite(v.start):
            continue
        low, high = slider_range(v, size, sum_of_weights(unit))
        found.append(
            {
                "group": group,
                "name": v.name,
                "text": v.text,
                "reference": number,
                "value": v.start,
                "follows": v.follows,
                "low": low,
                "high": high,
                "least": v.minimum if math.isfinite(v.minimum) else None,
                "most": v.maximum if math.isfinite(v.maximum) else None,
                **display(v),
            }
        )
    return found


def sum_of_weights(unit: FmuUnit) -> float:
    """Return the weight of all bodies [N] at 9.81 m/s2, at least 10 N; it scales the forces that a
    user applies.
    """
    numbers = Numbers(unit.description)
    total = sum(numbers.number(body.mass) for body in unit.description.bodies.values())
    return max(9.81 * total, 10.0) if math.isfinite(total) else 10.0


def slider_range(v: Variable, size: float, weight: float) -> tuple[float, float]:
    """Return the limits of a slider in SI: those of the variable if it has them, else limits that
    suit its value or unit.
    """
    scale = {
        "N": weight,
        "N.m": weight * size,
        "m": size,
        "m/s": size,
        "rad": math.pi,
        "rad/s": 2.0 * math.pi,
        "Pa": 1e7,
        "m3/s": 1e-3,
    }.get(v.unit, 1.0)
    value = float(v.start or 0.0)
    if v.access in (Access.TUNABLE, Access.FIXED) and value:
        low, high = sorted((0.0, 2.0 * value))
    else:
        reach = max(scale, 2.0 * abs(value))
        low, high = -reach, reach
    low = v.minimum if math.isfinite(v.minimum) else low
    high = v.maximum if math.isfinite(v.maximum) else high
    return min(low, value), max(high, value)
