"""`kinetree linearize`: linearises a mechanism; modes, frequency responses, stability margins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import (
    Inputs,
    Origin,
    Quiet,
    Settings,
    Source,
    Starts,
    begun,
    held,
    loaded,
    one_of,
    writable,
)
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.json_output import Json, show_json

if TYPE_CHECKING:
    from kinetree.models.analysis.linearization import Linear
    from kinetree.models.system.system import System

PICTURES = (".png", ".pdf", ".svg")
FILES = (".npz", ".mat", ".json", ".csv")
LOCUS = 41  # values of a root locus


def linearize(
    file: Source,
    chosen: Annotated[
        str,
        typer.Option("--inputs", help="NAME,NAME,...: inputs of the linear system (default: all)."),
    ] = "",
    wanted: Annotated[
        str,
        typer.Option(
            "--outputs",
            help="NAME,NAME,...: outputs, coordinates or any other variable (default: all outputs).",
        ),
    ] = "",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="rest|start|TIME",
            help="Operating point: equilibrium (rest), initial state (start), or a time of the run.",
        ),
    ] = "rest",
    bode: Annotated[
        Path | None, typer.Option("--bode", help="Bode plot: .png, .pdf or .svg.")
    ] = None,
    nyquist: Annotated[
        Path | None,
        typer.Option("--nyquist", help="Nyquist plot."),
    ] = None,
    poles: Annotated[Path | None, typer.Option("--poles", help="Plot of poles and zeros.")] = None,
    locus: Annotated[
        list[str] | None,
        typer.Option(
            "--root-locus",
            metavar="P=FROM:TO[:F.png]",
            help="Root locus over a parameter; may be repeated.",
        ),
    ] = None,
    with_margins: Annotated[
        bool,
        typer.Option(
            "--margins",
            help="Stability margins of the controllers' loops; without controllers, of the loops input = -output.",
        ),
    ] = False,
    delay: Annotated[
        float, typer.Option("--delay", help="Dead time of the loops in s, for the margins.")
    ] = 0.0,
    cycles: Annotated[
        list[str] | None,
        typer.Option(
            "--limit-cycle",
            metavar="PART=WIDTH",
            help="Limit cycles caused by valve overlap, limit, friction or backlash of ±WIDTH at the command.",
        ),
    ] = None,
    sweep: Annotated[
        str,
        typer.Option(
            "--sweep",
            metavar="FROM:TO:AMPLITUDE",
            help="Measure frequency responses of the FMU with sines [Hz:Hz:amplitude].",
        ),
    ] = "",
    settings: Settings = None,
    starts: Starts = None,
    origin: Origin = None,
    inputs: Inputs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Matrices and names: .npz, .mat, .json or .csv."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Linearise about an equilibrium or an instant of a run: matrices A to D, modes, zeros, margins, plots.

    Modes that are not controllable from the inputs or not observable in the outputs are named.
    """
    from kinetree.scripts.reports import linear_pictures as pictures

    writable(output, FILES, "--output")
    if output and output.resolve() == Path(file).resolve():
        raise BadInput(f"--output {output}: that is the description itself")
    for path, option in ((bode, "--bode"), (nyquist, "--nyquist"), (poles, "--poles")):
        writable(path, PICTURES, option)
    parts, tones = [part_of(text) for text in cycles or []], tones_of(sweep)
    loci = [locus_of(text) for text in locus or []]
    mechanism = begun(loaded(file, settings), starts, origin)
    system = mechanism.compile()
    given = held(inputs, system.compiled.inputs)
    known = {column.name: column.unit for column in system.compiled.outputs}
    outputs = [
        one_of(name, (*known, *system.compiled.registers), "--outputs") for name in names_of(wanted)
    ] or list(known)
    ins = [
        one_of(name, system.compiled.inputs, "--inputs") for name in names_of(chosen)
    ] or seen_inputs(system)
    linear = place(system, at, given, outputs)
    loops = loops_of(system, given, delay) if (with_margins or parts) and at == "rest" else []
    if (with_margins or bode or nyquist or parts or tones) and not (ins and outputs) and not loops:
        raise BadInput(
            "frequency responses need an input and an output: describe them in [inputs] and [outputs]"
        )
    pairs = (with_margins or bool(parts)) and (bool(chosen or wanted) or not loops)
    facts: dict[str, Any] = {**facts_of(linear, ins, outputs, pairs, delay), "loops": loops}
    facts["stages"] = stages_of(system, given, delay) if with_margins and loops else []
    facts["cycles"] = [
        found for part, width in parts for found in cycles_of(linear, facts, part, width, delay)
    ]
    facts["sweep"] = (
        measured_on_fmu(mechanism, system, at, ins, outputs, tones, given) if tones else None
    )
    units = (
        units_of_motion(system)
        | known
        | {name: spec.unit for name, spec in inputs_known(system).items()}
    )
    if bode:
        pictures.draw_bode(
            linear, units, ins, outputs, facts["margin_objects"], bode, facts["sweep"]
        )
    if nyquist:
        pictures.draw_nyquist(linear, ins, outputs, nyquist)
    if poles:
        pictures.draw_poles(linear, facts["zero_array"], poles)
    moving = [follow(mechanism, at, given, *each) for each in loci]
    plain = told(linear, ins, outputs, facts, at) | ({"root_locus": moving} if moving else {})
    if output:
        from kinetree.scripts.reports.linear_files import write

        write(linear, ins, outputs, plain, output)
    if json:
        show_json(plain)
    elif not quiet:
        from kinetree.scripts.reports.linear_text import show

        show(system.name, linear, facts, at)


def seen_inputs(system: System) -> list[str]:
    """Return the inputs that hosts can set, without internal ones."""
    from kinetree.models.compilation.element_states import held_inputs

    hidden = held_inputs(system.description)
    return [name for name in system.compiled.inputs if name not in hidden]


def loops_of(system: System, given: dict[str, float] | None, delay: float = 0.0) -> list[Any]:
    """Return the control loops of the controllers inside the mechanism."""
    from kinetree.models.analysis.control_loops import control_loops

    return control_loops(system, given, delay)


def stages_of(system: System, given: dict[str, float] | None, delay: float = 0.0) -> list[Any]:
    """Return the control loops at the start of each stage of a run; none without several stages."""
    from kinetree.models.analysis.control_loops import stage_loops

    several = len(system.stages) > 1
    return [each for each in stage_loops(system, given, delay) if each.loops] if several else []


def names_of(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def inputs_known(system: System) -> dict[str, Any]:
    from kinetree.models.compilation.element_states import inputs_of

    return inputs_of(system.description)


def units_of_motion(system: System) -> dict[str, str]:
    """Return the units of coordinates and speeds."""
    from kinetree.models.description.joint_units import joint_units

    return {name: unit for name, (unit, _) in joint_units(system.description.joints).items()}


def place(system: System, at: str, given: dict[str, float] | None, outputs: list[str]) -> Linear:
    """Return the system linearised at the operating point that `--at` names."""
    from kinetree.models.analysis.operating_point import linear_at_rest, linear_at_time
    from kinetree.models.engine.status import EvaluationError

    if at == "rest":
        try:
            return linear_at_rest(system, given, outputs)
        except EvaluationError as error:
            raise EvaluationError(
                f"{error}; --at start or --at TIME linearises elsewhere", error.status
            ) from None
    if at == "start":
        q, u = system.start()
        return system.linearize(q=q, u=u, inputs=given, outputs=outputs)
    try:
        time = float(at)
    except ValueError:
        raise BadInput(f"--at {at}: expected rest, start or a time in s") from None
    return linear_at_time(system, time, given, outputs)


def facts_of(
    linear: Linear, ins: list[str], outputs: list[str], with_margins: bool, delay: float
) -> dict[str, Any]:
    """Return the modes, zeros, sentences and margins of a linear system."""
    from kinetree.models.analysis.frequency_response import margins
    from kinetree.models.analysis.modal import mode_facts, transmission_zeros, unreachable_modes

    part = linear.part(ins, outputs)
    modes = mode_facts(linear)
    loops = {(a, b): linear.part([a], [b]) for a in ins for b in outputs} if with_margins else {}
    found = {
        pair: margins(
            loop if len(linear.speeds) == len(linear.coordinates) else loop.seen(), delay=delay
        )
        for pair, loop in loops.items()
    }
    square = transmission_zeros(part.A, part.B, part.C, part.D)
    sentences = [
        *linear.about,
        *unreachable_modes(
            modes, tuple(ins), tuple(outputs), drifts=len(linear.speeds) == len(linear.coordinates)
        ),
    ]
    return {"modes": modes, "said": sentences, "zero_array": square, "margin_objects": found}


def told(
    linear: Linear, ins: list[str], outputs: list[str], facts: dict[str, Any], at: str
) -> dict[str, Any]:
    """Return all results of the linearisation as plain data."""
    part = linear.part(ins, outputs)
    return {
        "at": at,
        "moving": dict(linear.moving),
        "changing": dict(linear.changing),
        "states": list(linear.states),
        "inputs": ins,
        "outputs": outputs,
        **{key: getattr(part, key).tolist() for key in "ABCD"},
        "modes": [mode.to_dict() for mode in facts["modes"]],
        "zeros": [[value.real, value.imag] for value in facts["zero_array"]],
        "said": facts["said"],
        "margins": [
            {"input": a, "output": b, **margin.to_dict()}
            for (a, b), margin in facts["margin_objects"].items()
        ],
        "limit_cycles": [
            {"loop": name, "cycles": [vars(each) for each in found]}
            for name, found in facts["cycles"]
        ],
        "sweep": sweep_data(facts["sweep"]),
        "controllers": [
            {
                "name": each.name,
                "period": each.period,
                "delay": each.delay,
                "said": each.said,
                "stability_known": each.known,
                **each.margins.to_dict(),
            }
            for each in facts["loops"]
        ],
        "stages": [
            {"stage": stage.stage, "time": stage.time, "name": each.name, **each.margins.to_dict()}
            for stage in facts["stages"]
            for each in stage.loops
        ],
    }


def part_of(text: str) -> tuple[str, float]:
    """Parse the setting PART=WIDTH of a limit cycle: nonlinear part and its width."""
    from kinetree.models.analysis.describing_functions import PARTS

    name, _, width = text.partition("=")
    try:
        found = one_of(name.strip(), tuple(PARTS), "--limit-cycle"), float(width)
    except ValueError:
        raise BadInput(
            f"--limit-cycle {text}: expected PART=WIDTH, for example overlap=0.02"
        ) from None
    if not found[1] > 0.0:
        raise BadInput(f"--limit-cycle {text}: expected a positive width")
    return found


def cycles_of(
    linear: Linear, facts: dict[str, Any], part: str, width: float, delay: float
) -> list[tuple[str, list[Any]]]:
    """Return the limit cycles of every loop, predicted by describing functions."""
    from kinetree.models.analysis.describing_functions import limit_cycles

    pairs = [
        (f"loop {a} = -{b}, {part}", linear.part([a], [b]), delay)
        for a, b in facts["margin_objects"]
    ]
    pairs += [
        (f"controller {each.name}, {part}", each.loop, 0.0 if each.period else each.delay)
        for each in facts["loops"]
    ]
    return [(name, limit_cycles(loop, part, width, late)) for name, loop, late in pairs]


def tones_of(text: str) -> tuple[float, float, float] | None:
    """Parse FROM:TO:AMPLITUDE of a sweep; None for an empty text."""
    if not text:
        return None
    try:
        low, high, amplitude = map(float, text.split(":"))
    except ValueError:
        raise BadInput(
            f"--sweep {text}: expected FROM:TO:AMPLITUDE, for example 0.5:20:100"
        ) from None
    if not (0.0 < low <= high and amplitude > 0.0):
        raise BadInput(f"--sweep {text}: expected 0 < FROM <= TO and a positive amplitude")
    return low, high, amplitude


def measured_on_fmu(
    mechanism: Any,
    system: System,
    at: str,
    ins: list[str],
    outputs: list[str],
    tones: tuple[float, float, float],
    given: Any,
) -> Any:
    """Return the frequency responses measured by a sine sweep on the native FMU."""
    from kinetree.scripts.studies.sine_sweep import swept

    if at != "rest" or len(ins) != 1:
        raise BadInput(
            "--sweep measures one input about the equilibrium: name it with --inputs, and use --at rest"
        )
    return swept(mechanism, system, ins[0], outputs, *tones, given)


def sweep_data(sweep: Any) -> dict[str, Any] | None:
    """Return measured and linear responses of a sweep as plain data."""
    if sweep is None:
        return None
    pairs = {key: getattr(sweep, key).T for key in ("measured", "linear")}
    rows = {
        key: [[[v.real, v.imag] for v in row] for row in values] for key, values in pairs.items()
    }
    return {
        "frequencies": sweep.frequencies.tolist(),
        "outputs": list(sweep.outputs),
        **rows,
        "distortion": sweep.distortion.T.tolist(),
    }


def locus_of(text: str) -> tuple[str, float, float, Path | None]:
    """Parse P=FROM:TO or P=FROM:TO:PICTURE of a root locus."""
    name, _, limits = text.partition("=")
    low, _, rest = limits.partition(":")
    high, _, path = rest.partition(":")
    try:
        found = name.strip(), float(low), float(high), Path(path) if path else None
    except ValueError:
        raise BadInput(
            f"--root-locus {text}: expected PARAMETER=FROM:TO, for example k=1e4:1e6:locus.png"
        ) from None
    writable(found[3], PICTURES, "--root-locus")
    return found


def follow(
    mechanism: Any,
    at: str,
    given: dict[str, float] | None,
    name: str,
    low: float,
    high: float,
    path: Path | None,
) -> dict[str, Any]:
    """Return the eigenvalues at values of a parameter between two bounds, with logarithmic spacing
    where the bounds span decades; draw the root locus if a path is given.
    """
    import numpy as np

    from kinetree.scripts.reports.linear_pictures import draw_locus

    one_of(name, tuple(mechanism.description.parameters), "--root-locus")
    values = (
        np.geomspace(low, high, LOCUS)
        if low > 0 and high > 5 * low
        else np.linspace(low, high, LOCUS)
    )
    found = [
        place(mechanism.compile(**{name: float(value)}), at, given, []).eigenvalues
        for value in values
    ]
    if path:
        draw_locus(name, mechanism.description.parameters[name].unit, values, found, path)
    return {
        "parameter": name,
        "values": values.tolist(),
        "eigenvalues": [[[v.real, v.imag] for v in each] for each in found],
    }


COMMAND = Command("linearize", linearize, place=50)
