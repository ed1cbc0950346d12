"""The Modelica model around an imported FMU: signals, actuators as flanges or oil ports,
parameters, units, an icon; it uses the package Kinetree.

The block that OpenModelica's import creates is named after the model's identifier; its variables
have the FMU's names with _ for every character that is no letter, digit or underscore.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinetree.fmu.names import RESERVED, imported
from kinetree.fmu.variables import Type, Variable, fmi_name, variable_table

SUFFIX = "_me_FMU"  # of the block that OpenModelica makes of a model exchange FMU
INPUT, OUTPUT = "Modelica.Blocks.Interfaces.RealInput", "Modelica.Blocks.Interfaces.RealOutput"
NEAR = 1e-3  # difference of an actuator's length inside and outside of the FMU that integration may make [m or rad]
TOP, PITCH = 80, 40  # of the connectors in the icon
ICON = (
    "Icon(coordinateSystem(extent = {{{{-100,{low}}},{{100,100}}}}), graphics = {{Rectangle(extent = {{{{-100,100}},{{100,{low}}}}}, "
    "lineColor = {{0,0,127}}, fillColor = {{255,255,255}}, fillPattern = FillPattern.Solid), "
    'Text(extent = {{{{-150,150}},{{150,110}}}}, textString = "%name", textColor = {{0,0,255}})}})'
)


def wrapper_text(unit: Any, name: str, block: str, lengths: Mapping[str, float]) -> str:
    """Return the Modelica model around an imported class `block`; `lengths` are the start positions
    of actuators.
    """
    whole = variable_table(unit)
    described = {new: name for name, new in whole.renamed.items()}
    table = [v for v in whole.variables if v.type == Type.REAL]
    actuators = unit.description.actuators
    inside = {
        v.name for v in table if described.get(v.name, v.name).rpartition(".")[0] in actuators
    }
    names = Names(whole.renamed)
    signals = [v for v in table if v.causality == "input" and v.name not in inside]
    columns = (fmi_name(column.name) for column in unit.columns)
    told = {whole.renamed.get(name, name) for name in columns} - inside
    results = [
        v
        for v in table
        if v.causality == "output" and v.name in told and not v.name.startswith("der(")
    ]
    parameters = [v for v in table if v.causality == "parameter"]
    written = [f"{imported(v.name)} = {names.own(v.name)}" for v in parameters]
    lines = [
        f"  parameter Real {names.own(v.name)}{attributes(v)} = {v.start!r}{comment(v)};"
        for v in parameters
    ]
    lines += [
        f"  {INPUT} {names.own(v.name)}{attributes(v)}{comment(v)} {placed(-1, k)};"
        for k, v in enumerate(signals)
    ]
    lines += [
        f"  {OUTPUT} {names.own(v.name)}{attributes(v)}{comment(v)} {placed(1, k)};"
        for k, v in enumerate(results)
    ]
    equations = [f"  fmu.{imported(v.name)} = {names.own(v.name)};" for v in signals]
    equations += [f"  {names.own(v.name)} = fmu.{imported(v.name)};" for v in results]
    left = len(signals)
    for label, actuator in actuators.items():
        rotary = next((v.unit == "rad" for v in table if v.name == f"{label}.length"), False)
        add = oil_ports if actuator.chambers is not None else flange
        more = add(names, label, rotary, lengths.get(label, 0.0), left)
        left += 2 if actuator.chambers is not None else 1
        lines += more[0]
        equations += more[1]
    given = "(\n    " + ",\n    ".join(written) + ")" if written else ""
    lines.append(f'  {block} fmu{given} "the block that the import made";')
    low = -100 - PITCH * max(0, max(left, len(results)) - 5)
    text = unit.description.text or unit.description.name
    body = "\n".join(
        [
            f"model {name} {quoted(text)}",
            *lines,
            "equation",
            *equations,
            f"  annotation({ICON.format(low=low)},",
            *(f"    {each}," for each in figures(names, results)),
        ]
    )
    return f'{body}\n    uses(Modelica(version = "4.0.0"), Kinetree(version = "0.1.0")));\nend {name};\n'


def figures(names: Names, results: Sequence[Variable]) -> list[str]:
    """Return the annotation of plots that a tool shows by default (Modelica 3.5, 18.2.2): one plot
    per unit of the results.
    """
    by_unit: dict[str, list[Variable]] = {}
    for v in results:
        if v.variability == "continuous":
            by_unit.setdefault(v.unit, []).append(v)
    plots = []
    for unit, shown in by_unit.items():
        curves = [
            f"Curve(y = {names.own(v.name)}, legend = {quoted(v.text or v.name)})" for v in shown
        ]
        title = "" if unit in ("", "1") else f"title = {quoted(unit)}, "
        plots.append(f"Plot({title}curves = {{{', '.join(curves)}}})")
    if not plots:
        return []
    head = 'title = "Results", identifier = "results", preferred = true'
    return [f"Documentation(figures = {{Figure({head}, plots = {{{', '.join(plots)}}})}})"]


def flange(
    names: Names, label: str, rotary: bool, length: float, place: int
) -> tuple[list[str], list[str]]:
    """Return declarations and equations of an actuator with a mechanical flange."""
    way, kind, start, effort = (
        ("Rotational", "RotationalActuator", "angle", "moment")
        if rotary
        else ("Translational", "TranslationalActuator", "length", "force")
    )
    port, side, begin = (
        names.own(label),
        names.own(f"{label}_actuator"),
        names.own(f"{label}_start"),
    )
    position = "phi" if rotary else "s"
    lines = [
        f"  Modelica.Mechanics.{way}.Interfaces.Flange_b {port} {quoted(f'actuator {label}')} {placed(-1, place, True)};",
        f"  parameter Real {begin}(unit = {quoted('rad' if rotary else 'm')}) = {length!r} {quoted(f'{start} of actuator {label} at the start')};",
        f"  Kinetree.Interfaces.{kind} {side}({start} = {begin});",
    ]
    there = names.of_actuator(label)
    equations = [f"  {side}.speed = {there('speed')};", f"  {there('force')} = {side}.{effort};"]
    equations += [f"  {there(slope)} = 0;" for slope in ("stiffness", "damping")]
    wrong = quoted(
        f"{begin} is not the {start} that the FMU has at the start: it follows from the parameters"
    )
    equations.append(
        f"  assert(abs({side}.flange.{position} - {there('length')}) < {NEAR!r}, {wrong});"
    )
    return lines, [*equations, f"  connect({side}.flange, {port});"]


def oil_ports(
    names: Names, label: str, rotary: bool, length: float, place: int
) -> tuple[list[str], list[str]]:
    """Return the declarations and equations of an actuator whose oil is inside the FMU."""
    lines, equations, there = [], [], names.of_actuator(label)
    for k, side in enumerate("ab"):
        port = names.own(f"{label}_{side}")
        lines.append(
            f"  Kinetree.Interfaces.OilPort {port} {quoted(f'side {side} of actuator {label}')} {placed(-1, place + k, True)};"
        )
        equations += [
            f"  {port}.p = {there(f'pressure_{side}')};",
            f"  {there(f'flow_{side}')} = {port}.q;",
        ]
    return lines, equations + [
        f"  {there(slope)} = 0;" for slope in ("force", "stiffness", "damping")
    ]


class Names:
    """Unique Modelica identifiers for names of variables; `renamed`: variables whose FMU names
    differ from those of the description.
    """

    def __init__(self, renamed: Mapping[str, str] | None = None) -> None:
        self.found: dict[str, str] = {}
        self.renamed = renamed or {}

    def of_actuator(self, label: str) -> Callable[[str], str]:
        """Return a function from a word of an actuator, such as `force`, to the variable of the
        imported block.
        """

        def there(word: str) -> str:
            name = f"{label}.{word}"
            return f"fmu.{imported(self.renamed.get(name, name))}"

        return there

    def own(self, name: str) -> str:
        if name not in self.found:
            wanted = re.sub(r"_+$", "", re.sub(r"\W", "_", name, flags=re.ASCII)) or "x"
            wanted = f"x_{wanted}" if wanted[0].isdigit() else wanted
            while wanted in self.found.values() or wanted in {*RESERVED, "fmu"}:
                wanted += "_"
            self.found[name] = wanted
        return self.found[name]


def attributes(v: Variable) -> str:
    """Return the Modelica attributes unit, display unit and bounds of a variable."""
    pairs = {
        "unit": v.unit and quoted(v.unit),
        "displayUnit": v.display_unit and v.display_unit != v.unit and quoted(v.display_unit),
    }
    if v.causality == "parameter":
        pairs |= {
            "min": v.minimum > -float("inf") and repr(v.minimum),
            "max": v.maximum < float("inf") and repr(v.maximum),
        }
    found = ", ".join(f"{key} = {value}" for key, value in pairs.items() if value)
    return f"({found})" if found else ""


def comment(v: Variable) -> str:
    return f" {quoted(v.text)}" if v.text else ""


def quoted(text: str) -> str:
    """Return a text as a Modelica string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def placed(side: int, number: int, port: bool = False) -> str:
    """Return the placement annotation of a connector at the left or right side of the icon."""
    y = TOP - PITCH * number
    near, far = (100, 120) if side > 0 else (-110, -90) if port else (-140, -100)
    half = 10 if side > 0 or port else 20
    return f"annotation(Placement(transformation(extent = {{{{{near},{y - half}}},{{{far},{y + half}}}}})))"
