"""Writes the Modelica package of a mechanism whose external object calls the engine.

Its class `Exchange` is integrated by the Modelica tool, `Steps` by the engine. Since tools repeat,
reorder or skip calls, all functions depend on their arguments only, among them the epoch: the
number of events (or samples) so far. Internal names of the package begin with kt_.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinetree.fmu.archive.payload import payload, token_of
from kinetree.fmu.external.function_texts import function_texts
from kinetree.fmu.external.library import LIBRARY, block_library
from kinetree.fmu.modelica import (
    ICON,
    INPUT,
    OUTPUT,
    Names,
    attributes,
    comment,
    figures,
    placed,
    quoted,
)
from kinetree.fmu.native.binaries import platforms_of
from kinetree.fmu.variables import Access, Type, Variable, fmi_name, variable_table
from kinetree.solvers.library.platforms import WEBASSEMBLY, this_platform

NO_INPUTS = "fill(0, 0), fill(0.0, 0)"  # no inputs


def numbers(items: Iterable[str], empty: str = "fill(0, 0)") -> str:
    """Return an array in Modelica syntax; `empty` stands for an array without items."""
    items = list(items)
    return f"{{{', '.join(items)}}}" if items else empty


@dataclass
class Actuator:
    """An actuator of the mechanism with its Modelica connector."""

    label: str
    port: str
    rotary: bool
    chambers: bool

    @property
    def flow(self) -> str:
        return f"{self.port}.tau" if self.rotary else f"{self.port}.f"

    @property
    def place(self) -> str:
        return f"{self.port}.phi" if self.rotary else f"{self.port}.s"

    def connectors(self, k: int) -> list[str]:
        """Return the Modelica declarations of an actuator's connectors."""
        if self.chambers:
            return [
                f"    Kinetree.Interfaces.OilPort {self.port}_{side} {quoted(f'side {side} of actuator {self.label}')} {placed(-1, k + j, True)};"
                for j, side in enumerate("ab")
            ]
        way = "Rotational" if self.rotary else "Translational"
        return [
            f"    Modelica.Mechanics.{way}.Interfaces.Flange_b {self.port} {quoted(f'actuator {self.label}')} {placed(-1, k, True)};"
        ]


@dataclass
class Mechanism:
    """The variables of a mechanism, grouped by their role in the Modelica class."""

    unit: Any
    file: str  # expression of Modelica for the place of the model
    parameters: list[Variable] = field(default_factory=list)
    tunables: list[Variable] = field(default_factory=list)  # of the parameters, those of them
    inputs: list[Variable] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.table = table = variable_table(self.unit)
        self.names = Names(table.renamed)
        self.names.found |= {
            f" {name}": name for name in ("epoch", "stage", "events", "sample_period", "sample_tolerance")
        }  # fmt: skip
        self.vr = {v.name: vr for vr, v in table.numbered()}
        self.described = {new: name for name, new in table.renamed.items()}
        real = [v for v in table.variables if v.type == Type.REAL]
        known = {v.name: v for v in real}
        for label, given in self.unit.description.actuators.items():
            length = known.get(self.fmu(f"{label}.length"))
            rotary = length is not None and length.unit == "rad"
            self.actuators.append(
                Actuator(label, self.names.own(label), rotary, given.chambers is not None)
            )
        told = {self.fmu(fmi_name(column.name)) for column in self.unit.columns}
        self.parameters = [v for v in real if v.causality == "parameter"]
        self.tunables = [v for v in self.parameters if v.access == Access.TUNABLE]
        self.inputs = [v for v in real if v.causality == "input"]
        self.results = [
            v
            for v in real
            if v.causality == "output"
            and v.name in told
            and not v.name.startswith("der(")
            and self.owner(v) is None
        ]

    def fmu(self, name: str) -> str:
        """Return the name of a variable in the table of variables."""
        return self.table.renamed.get(name, name)

    def word(self, v: Variable) -> tuple[str, str]:
        """Split a variable's name in the description into its label and its last word."""
        label, _, word = self.described.get(v.name, v.name).rpartition(".")
        return label, word

    def owner(self, v: Variable) -> Actuator | None:
        """Return the actuator to which a variable belongs; None if there is none."""
        return next((each for each in self.actuators if each.label == self.word(v)[0]), None)

    def now(self, v: Variable) -> str:
        """Return the name of the input that changes a tunable parameter during the run."""
        return self.names.own(f"{v.name}_now")

    def reference(self, name: str) -> int:
        return self.vr[self.fmu(name)]

    def references(self, items: Iterable[Variable]) -> str:
        return numbers(str(self.vr[v.name]) for v in items)

    def needs_inputs(self, v: Variable) -> bool:
        """Return whether a variable depends directly on inputs."""
        inputs = {self.vr[each.name] for each in self.inputs}
        return bool(inputs) and (
            v.dependencies is None or any(known in inputs for known, _ in v.dependencies)
        )

    def variable(self, name: str) -> Variable:
        return self.table.variables[self.reference(name)]


def declarations(m: Mechanism) -> list[str]:
    """Return the Modelica declarations of parameters, inputs, outputs and connectors that both
    classes share, with their positions.
    """
    own = m.names.own
    lines = [
        f"    parameter Real {own(v.name)}{attributes(v)} = {v.start!r}{comment(v)};"
        for v in m.parameters
    ]
    lines += [
        f"    discrete input Real {m.now(v)}(start = {own(v.name)}) = {own(v.name)} "
        f"{quoted(f'{v.name} during the run')};"
        for v in m.tunables
    ]
    left = 0
    for v in m.inputs:
        if m.owner(v) is None:
            lines.append(
                f"    {INPUT} {own(v.name)}{attributes(v)}{comment(v)} {placed(-1, left)};"
            )
            left += 1
    for actuator in m.actuators:
        made = actuator.connectors(left)
        lines += made
        left += len(made)
    lines += [
        f"    {OUTPUT} {own(v.name)}{attributes(v)}{comment(v)} {placed(1, k)};"
        for k, v in enumerate(m.results)
    ]
    return lines


def closing(m: Mechanism, name: str) -> str:
    """Return the icon annotation, whose height fits the connectors, and the end of a class."""
    left = sum(m.owner(v) is None for v in m.inputs) + sum(
        2 if a.chambers else 1 for a in m.actuators
    )
    low = -100 - 40 * max(0, max(left, len(m.results)) - 5)
    shown = ", ".join([ICON.format(low=low), *figures(m.names, m.results)])
    return f"    annotation({shown});\n  end {name};\n"


def object_of(m: Mechanism, exchange: bool, tolerance: str) -> str:
    """Return the declaration of the external object, with the values of the parameters."""
    values = numbers((m.names.own(v.name) for v in m.parameters), "fill(0.0, 0)")
    references = m.references(m.parameters)
    return (
        f"    Object kt_o = Object(getInstanceName(), {m.file}, {str(exchange).lower()}, "
        f"{tolerance}, 0, {references}, {values});"
    )


def exchange_text(m: Mechanism) -> str:
    """Return the source of the class that the Modelica tool integrates."""
    own, states, guards = m.names.own, len(m.table.states), len(m.table.indicators)
    flanges = [each for each in m.actuators if not each.chambers]
    shown = [*m.results]
    for each in m.actuators:
        words = ("pressure_a", "pressure_b") if each.chambers else ("acceleration",)
        shown += [m.variable(f"{each.label}.{word}") for word in words]
    groups = {
        "kt_y": [v for v in shown if not m.needs_inputs(v)],
        "kt_yu": [v for v in shown if m.needs_inputs(v)],
    }
    value = {
        v.name: f"{group}[{k}]" for group, items in groups.items() for k, v in enumerate(items, 1)
    }

    def given(v: Variable) -> str:
        actuator, word = m.owner(v), m.word(v)[1]
        if actuator is None:
            return own(v.name)
        if actuator.chambers:
            return f"{actuator.port}_{word[-1]}.q" if word in ("flow_a", "flow_b") else "0"
        return actuator.flow if word == "force" else "0"

    used = "kt_uvr, kt_u" if m.inputs else NO_INPUTS
    lines = [
        '  model Exchange "the tool integrates"',
        *declarations(m),
        '    Integer epoch(start = 0, fixed = true) "events so far, and what prepares them";',
        '    Integer stage "number of the present stage, from 0";',
        '    Integer events "events so far";',
        "  protected",
        object_of(m, True, "0"),
        "    discrete Real kt_next;",
        "    Integer kt_counts[2];",
    ]
    if m.inputs:
        lines.append(f"    constant Integer kt_uvr[{len(m.inputs)}] = {m.references(m.inputs)};")
        lines.append(f"    Real kt_u[{len(m.inputs)}];")
    if states:
        lines.append(f"    Real kt_x[{states}];")
        lines.append(f"    discrete Real kt_xn[{states}](each start = 0, each fixed = true);")
    lines += [f"    Real kt_{each.port}[2] {quoted('length and speed')};" for each in flanges]
    lines += [f"    Real {group}[{len(items)}];" for group, items in groups.items() if items]
    if guards:
        lines.append(f"    Real kt_z[{guards}];")
    lines += ["  initial equation", f"    (kt_x, kt_next) = start(kt_o, {states});", "  equation"]
    if m.inputs:
        lines.append(f"    kt_u = {numbers(given(v) for v in m.inputs)};")
    lines.append(f"    der(kt_x) = rates(kt_o, time, kt_x, {used}, pre(epoch));")
    for group, items in groups.items():
        with_inputs = used if group == "kt_yu" else NO_INPUTS
        if items:
            lines.append(
                f"    {group} = outputs(kt_o, time, kt_x, {with_inputs}, pre(epoch), {m.references(items)});"
            )
    if guards:
        lines.append(f"    kt_z = guards(kt_o, time, kt_x, {used}, pre(epoch), {guards});")
    conditions = [*(f"kt_z[{k}] >= 0" for k in range(1, guards + 1)), "time >= pre(kt_next)"]
    conditions += [f"change({m.now(v)})" for v in m.tunables]
    tuned = numbers(map(m.now, m.tunables), "fill(0.0, 0)")
    lines += [
        f"    when {numbers(conditions)} then",
        f"      (epoch, kt_xn, kt_next) = event(kt_o, time, kt_x, {used}, pre(epoch), {m.references(m.tunables)}, {tuned});",
        *(f"      reinit(kt_x[{k}], kt_xn[{k}]);" for k in range(1, states + 1)),
        "    end when;",
        f"    kt_counts = counts(kt_o, pre(epoch), {{{m.reference('stage')}, {m.reference('events')}}});",
        "    stage = kt_counts[1];",
        "    events = kt_counts[2];",
    ]
    lines += [f"    {own(v.name)} = {value[v.name]};" for v in m.results]
    for each in m.actuators:
        if each.chambers:
            lines += [
                f"    {each.port}_{side}.p = {value[m.fmu(f'{each.label}.pressure_{side}')]};"
                for side in "ab"
            ]
            continue
        pair = ", ".join(str(m.reference(f"{each.label}.{word}")) for word in ("length", "speed"))
        rate = value[m.fmu(f"{each.label}.acceleration")]
        lines += [
            f"    kt_{each.port} = outputs(kt_o, time, kt_x, {NO_INPUTS}, pre(epoch), {{{pair}}});",
            f"    {each.place} = position({{kt_{each.port}[1], kt_{each.port}[2], {rate}}}, time);",
        ]
    return "\n".join(lines) + "\n" + closing(m, "Exchange")


def steps_text(m: Mechanism) -> str:
    """Return the source of the class that integrates itself between samples and receives the force
    with its derivatives.
    """
    own = m.names.own
    flanges = [each for each in m.actuators if not each.chambers]
    shown = [*m.results]
    for each in m.actuators:
        words = ("pressure_a", "pressure_b") if each.chambers else ("length", "speed", "mean_speed")
        shown += [m.variable(f"{each.label}.{word}") for word in words]
    number = {m.described.get(v.name, v.name): k for k, v in enumerate(shown, 1)}
    references = m.references(shown)

    def given(v: Variable) -> str:
        actuator, word = m.owner(v), m.word(v)[1]
        if actuator is None:
            return f"pre({own(v.name)})"
        if actuator.chambers:
            return f"pre({actuator.port}_{word[-1]}.q)" if word in ("flow_a", "flow_b") else "0"
        return f"{actuator.port}_force" if word == "force" else f"pre({actuator.port}_{word})"

    def slope(v: Variable) -> str:
        actuator, word = m.owner(v), m.word(v)[1]
        return (
            f"{actuator.port}_slope"
            if actuator and not actuator.chambers and word == "force"
            else "0.0"
        )

    lines = [
        '  model Steps "the mechanism integrates itself from sample to sample"',
        *declarations(m),
        '    parameter Real sample_period(unit = "s") = 0.005 "communication step";',
        "    parameter Real sample_tolerance = 1e-8;",
    ]
    for each in flanges:
        p = each.port
        lines += [
            f'    input Real {p}_stiffness = 0 "dF/ds of what is connected, negative";',
            f'    input Real {p}_damping = 0 "dF/dv, negative";',
            f'    parameter Boolean {p}_trend = true "the force goes on as in the last period, beside what stiffness and damping tell";',
            f'    discrete Real {p}_mean(start = 0, fixed = true) "mean speed until the next sample";',
            f"    discrete Real {p}_force(start = 0, fixed = true);",
            f"    discrete Real {p}_slope(start = 0, fixed = true);",
        ]
    count = len(shown)
    lines += [
        '    Integer epoch(start = 0, fixed = true) "samples so far";',
        "  protected",
        object_of(m, False, "sample_tolerance"),
        f'    discrete Real kt_y[{count}] "at the next sample";',
        f'    discrete Real kt_now[{count}](each start = 0, each fixed = true) "at the last sample";',
        *(f"    Real kt_{each.port};" for each in flanges),
        "  initial equation",
        f"    kt_y = values(kt_o, {references});",
        *(f"    kt_{each.port} = kt_y[{number[f'{each.label}.length']}];" for each in flanges),
        "  equation",
        "    when sample(0, sample_period) then",
        "      kt_now = pre(kt_y);",
    ]
    for each in flanges:
        p, v = each.port, number[f"{each.label}.speed"]
        lines += [
            f"      {p}_force = pre({each.flow}) + pre({p}_damping)*(pre(kt_y[{v}]) - pre({p}_mean));",
            f"      {p}_slope = if {p}_trend and pre(epoch) > 0 then ({p}_force - pre({p}_force) - pre({p}_stiffness)*sample_period*pre({p}_mean)"
            f" - pre({p}_damping)*(pre(kt_y[{v}]) - pre(kt_now[{v}])))/sample_period else 0;",
        ]
    told = [*m.inputs, *m.tunables]
    values = numbers(
        [*(given(v) for v in m.inputs), *(f"pre({m.now(v)})" for v in m.tunables)], "fill(0.0, 0)"
    )
    slopes = numbers([*(slope(v) for v in m.inputs), *("0.0" for _ in m.tunables)], "fill(0.0, 0)")
    lines += [
        f"      (epoch, kt_y) = step(kt_o, time, sample_period, {m.references(told)}, {values}, {slopes}, pre(epoch), {references});",
        *(
            f"      {each.port}_mean = kt_y[{number[f'{each.label}.mean_speed']}];"
            for each in flanges
        ),
        "    end when;",
    ]
    for each in flanges:
        lines += [
            f"    der(kt_{each.port}) = {each.port}_mean;",
            f"    {each.place} = kt_{each.port};",
        ]
    lines += [
        f"    {own(v.name)} = kt_now[{number[m.described.get(v.name, v.name)]}];" for v in m.results
    ]
    for each in m.actuators:
        if each.chambers:
            lines += [
                f"    {each.port}_{side}.p = kt_now[{number[f'{each.label}.pressure_{side}']}];"
                for side in "ab"
            ]
    return "\n".join(lines) + "\n" + closing(m, "Steps")


def package_text(unit: Any, name: str, token: str, derivatives: bool = False) -> str:
    """Return the Modelica package as text; `derivatives` adds the annotation of the derivative of
    the rates.
    """
    model = f"modelica://{name}/Resources/Data/model.kinetree"
    m = Mechanism(unit, f'Modelica.Utilities.Files.loadResource("{model}")')
    place = f'LibraryDirectory = "modelica://{name}/Resources/Library"'
    text = function_texts(LIBRARY, place, quoted(token), derivatives)
    told = unit.description.text or unit.description.name
    uses = 'Modelica(version = "4.0.0")'
    if any(each.chambers for each in m.actuators):
        uses += ', Kinetree(version = "0.1.0")'
    classes = f"{exchange_text(m)}\n{steps_text(m)}"
    return (
        f"package {name} {quoted(told)}{text}\n{classes}  annotation(uses({uses}));\nend {name};\n"
    )


def write_package(
    unit: Any,
    folder: Path,
    say: Callable[[str], None],
    platforms: str | Sequence[str] | None = None,
    derivatives: bool = False,
) -> Path:
    """Write the package into a folder of its name: Modelica text, the model, libraries.

    `platforms`: as for archives, without WebAssembly; by default this machine's only.
    """
    wanted = platforms_of(platforms) or (this_platform(),)
    libraries = {
        target: block_library(say, target) for target in wanted if target is not WEBASSEMBLY
    }
    table = variable_table(unit)
    token = token_of(unit, table)
    resources = folder / "Resources"
    (resources / "Data").mkdir(parents=True, exist_ok=True)
    text = package_text(unit, folder.name, token, derivatives)
    (folder / "package.mo").write_text(text, encoding="utf-8")
    (resources / "Data" / "model.kinetree").write_bytes(payload(unit, table, token))
    for target, library in libraries.items():
        place = resources / "Library" / (target.name if target else "")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"lib{LIBRARY}{library.suffix}").write_bytes(library.read_bytes())
    return folder
