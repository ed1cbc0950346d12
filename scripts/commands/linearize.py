"""`kinetree linearize`: small motions of a mechanism, their frequency responses and margins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.models.result.whole_file import opened
from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Inputs, Quiet, Settings, Source, held, numbers, one_of, writable
from kinetree.scripts.terminal.as_json import Json, keep_json, show_json
from kinetree.scripts.terminal.failure import BadInput

if TYPE_CHECKING:
    from kinetree.models.analysis.frequency import Margins
    from kinetree.models.analysis.linearization import Linear
    from kinetree.models.system.system import System

PICTURES = (".png", ".pdf", ".svg")
FILES = (".npz", ".mat", ".json", ".csv")
LOCUS = 41  # values of a root locus


def linearize(
    file: Source,
    chosen: Annotated[str, typer.Option("--inputs", help="NAME,NAME,...: inputs that matter (default: all).")] = "",
    wanted: Annotated[
        str, typer.Option("--outputs", help="NAME,NAME,...: outputs, coordinates or anything with a number (default: all outputs).")
    ] = "",
    at: Annotated[str, typer.Option("--at", metavar="rest|start|TIME", help="State: of rest, of the start, or at a time of the run.")] = "rest",
    bode: Annotated[Path | None, typer.Option("--bode", help="Picture of gain and phase: .png, .pdf or .svg.")] = None,
    nyquist: Annotated[Path | None, typer.Option("--nyquist", help="Picture of the responses in the complex plane.")] = None,
    poles: Annotated[Path | None, typer.Option("--poles", help="Picture of eigenvalues and zeros.")] = None,
    locus: Annotated[
        list[str] | None, typer.Option("--root-locus", metavar="P=FROM:TO[:F.png]", help="Eigenvalues as a parameter changes; may be repeated.")
    ] = None,
    with_margins: Annotated[
        bool,
        typer.Option(
            "--margins",
            help="Margins of the controllers' loops at rest; without any, or for named pairs, of input = -output.",
        ),
    ] = False,
    delay: Annotated[float, typer.Option("--delay", help="Dead time of the loops, for the margins [s].")] = 0.0,
    settings: Settings = None,
    inputs: Inputs = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Matrices and names: .npz, .mat, .json or .csv.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Linearise about rest or an instant of a run, exactly: A, B, C, D, modes, zeros, what moves and what sees them, margins, pictures."""
    from kinetree.models import load
    from kinetree.scripts.reports import linear_pictures as pictures

    writable(output, FILES, "--output")
    if output and output.resolve() == Path(file).resolve():
        raise BadInput(f"--output {output}: that is the description itself")
    for path, option in ((bode, "--bode"), (nyquist, "--nyquist"), (poles, "--poles")):
        writable(path, PICTURES, option)
    loci = [locus_of(text) for text in locus or []]
    mechanism = load(file, **numbers(settings))
    system = mechanism.compile()
    given = held(inputs, system.compiled.inputs)
    known = {column.name: column.unit for column in system.compiled.outputs}
    outputs = [one_of(name, (*known, *system.compiled.registers), "--outputs") for name in names_of(wanted)] or list(known)
    ins = [one_of(name, system.compiled.inputs, "--inputs") for name in names_of(chosen)] or seen_inputs(system)
    linear = place(system, at, given, outputs)
    loops = loops_of(system, given) if with_margins and at == "rest" else []
    if (with_margins or bode or nyquist) and not (ins and outputs) and not loops:
        raise BadInput("frequency responses need an input and an output: describe them in [inputs] and [outputs]")
    pairs = with_margins and (bool(chosen or wanted) or not loops)
    facts: dict[str, Any] = {**facts_of(linear, ins, outputs, pairs, delay), "loops": loops}
    units = known | {name: spec.unit for name, spec in inputs_known(system).items()}
    if bode:
        pictures.draw_bode(linear, units, ins, outputs, facts["margin_objects"], bode)
    if nyquist:
        pictures.draw_nyquist(linear, ins, outputs, nyquist)
    if poles:
        pictures.draw_poles(linear, facts["zero_array"], poles)
    moving = [follow(mechanism, at, given, *each) for each in loci]
    plain = told(linear, ins, outputs, facts, at) | ({"root_locus": moving} if moving else {})
    if output:
        write(linear, ins, outputs, plain, output)
    if json:
        show_json(plain)
    elif not quiet:
        show(system.name, linear, facts, at)


def seen_inputs(system: System) -> list[str]:
    """Inputs that hosts see."""
    from kinetree.models.compilation.additions import held_inputs

    hidden = held_inputs(system.description)
    return [name for name in system.compiled.inputs if name not in hidden]


def loops_of(system: System, given: dict[str, float] | None) -> list[Any]:
    """Loops of the controllers inside the mechanism."""
    from kinetree.models.analysis.control_loops import control_loops

    return control_loops(system, given)


def names_of(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def inputs_known(system: System) -> dict[str, Any]:
    from kinetree.models.compilation.additions import inputs_of

    return inputs_of(system.description)


def place(system: System, at: str, given: dict[str, float] | None, outputs: list[str]) -> Linear:
    """Small motions about what `--at` says."""
    from kinetree.models.analysis.moment import linear_at_rest, linear_at_time
    from kinetree.models.run.status import EvaluationError

    if at == "rest":
        try:
            return linear_at_rest(system, given, outputs)
        except EvaluationError as error:
            raise EvaluationError(f"{error}; --at start or --at TIME linearises elsewhere", error.status) from None
    if at == "start":
        q, u = system.start()
        return system.linearize(q=q, u=u, inputs=given, outputs=outputs)
    try:
        time = float(at)
    except ValueError:
        raise BadInput(f"--at {at}: expected rest, start or a time in s") from None
    return linear_at_time(system, time, given, outputs)


def facts_of(linear: Linear, ins: list[str], outputs: list[str], with_margins: bool, delay: float) -> dict[str, Any]:
    """Modes, zeros, sentences, margins."""
    from kinetree.models.analysis.frequency import margins
    from kinetree.models.analysis.modal import modal, said, zeros

    part = linear.part(ins, outputs)
    modes = modal(linear)
    found = {(a, b): margins(linear.part([a], [b]), delay=delay) for a in ins for b in outputs} if with_margins else {}
    square = zeros(part.A, part.B, part.C, part.D)
    return {"modes": modes, "said": said(modes, tuple(ins), tuple(outputs)), "zero_array": square, "margin_objects": found}


def told(linear: Linear, ins: list[str], outputs: list[str], facts: dict[str, Any], at: str) -> dict[str, Any]:
    """Everything as plain data."""
    part = linear.part(ins, outputs)
    return {
        "at": at,
        "states": list(linear.states),
        "inputs": ins,
        "outputs": outputs,
        **{key: getattr(part, key).tolist() for key in "ABCD"},
        "modes": [mode.to_dict() for mode in facts["modes"]],
        "zeros": [[value.real, value.imag] for value in facts["zero_array"]],
        "said": facts["said"],
        "margins": [{"input": a, "output": b, **margin.to_dict()} for (a, b), margin in facts["margin_objects"].items()],
        "controllers": [{"name": each.name, "period": each.period, "delay": each.delay, **each.margins.to_dict()} for each in facts["loops"]],
    }


def locus_of(text: str) -> tuple[str, float, float, Path | None]:
    """P=FROM:TO with a picture behind another colon."""
    name, _, limits = text.partition("=")
    low, _, rest = limits.partition(":")
    high, _, path = rest.partition(":")
    try:
        found = name.strip(), float(low), float(high), Path(path) if path else None
    except ValueError:
        raise BadInput(f"--root-locus {text}: expected PARAMETER=FROM:TO, for example k=1e4:1e6:locus.png") from None
    writable(found[3], PICTURES, "--root-locus")
    return found


def follow(mechanism: Any, at: str, given: dict[str, float] | None, name: str, low: float, high: float, path: Path | None) -> dict[str, Any]:
    """Eigenvalues at values of a parameter between two bounds; spread as powers where they span decades."""
    import numpy as np

    from kinetree.scripts.reports.linear_pictures import draw_locus

    one_of(name, tuple(mechanism.description.parameters), "--root-locus")
    values = np.geomspace(low, high, LOCUS) if low > 0 and high > 5 * low else np.linspace(low, high, LOCUS)
    found = [place(mechanism.compile(**{name: float(value)}), at, given, []).eigenvalues for value in values]
    if path:
        draw_locus(name, mechanism.description.parameters[name].unit, values, found, path)
    return {"parameter": name, "values": values.tolist(), "eigenvalues": [[[v.real, v.imag] for v in each] for each in found]}


def write(linear: Linear, ins: list[str], outputs: list[str], plain: dict[str, Any], path: Path) -> None:
    """Matrices and names in the format of the ending."""
    import numpy as np

    part = linear.part(ins, outputs)
    arrays = {key: getattr(part, key) for key in "ABCD"} | {"M": linear.mass, "F": linear.damping, "K": linear.stiffness}
    names = {"states": linear.states, "inputs": tuple(ins), "outputs": tuple(outputs), "coordinates": linear.coordinates}
    suffix = path.suffix.lower()
    if suffix == ".npz":
        with opened(path, "wb") as stream:
            np.savez(stream, allow_pickle=True, **arrays, **{key: np.array(value, dtype=str) for key, value in names.items()})
    elif suffix == ".mat":
        from scipy.io import savemat

        with opened(path, "wb") as stream:
            savemat(stream, arrays | {key: np.array(value, dtype=object) for key, value in names.items()})
    elif suffix == ".json":
        keep_json(plain, path)
    else:
        write_responses(linear, ins, outputs, path)


def write_responses(linear: Linear, ins: list[str], outputs: list[str], path: Path) -> None:
    """Frequency responses as columns: gain and phase of every pair."""
    import csv

    import numpy as np

    part = linear.part(ins, outputs)
    omega = part.frequencies()
    values = part.response(omega)
    pairs = [(i, o) for i in range(len(ins)) for o in range(len(outputs))]
    heads = [text for i, o in pairs for text in (f"|{outputs[o]}/{ins[i]}|", f"phase {outputs[o]}/{ins[i]} [deg]")]
    columns = [column for i, o in pairs for column in (np.abs(values[:, o, i]), np.degrees(np.unwrap(np.angle(values[:, o, i]))))]
    with opened(path) as stream:
        csv.writer(stream).writerows([["frequency [Hz]", *heads], *np.column_stack((omega / (2 * np.pi), *columns)).tolist()])


def show(title: str, linear: Linear, facts: dict[str, Any], at: str) -> None:
    """Tables on the terminal."""
    from rich.console import Console
    from rich.measure import Measurement

    from kinetree.scripts.commands.identify import table

    console = Console(highlight=False, soft_wrap=True)
    rows = [
        (f"{k}", f"{m.frequency:.6g}", f"{round(m.damping, 5) + 0.0:.5g}", f"{m.eigenvalue.real:.5g}", f"{m.eigenvalue.imag:.5g}", m.word)
        for k, m in enumerate(facts["modes"], 1)
    ]
    about = "at rest" if at == "rest" else f"at {at}" + (" s" if at != "start" else "")
    made = table(f"{title} {about}: modes", ("", "frequency [Hz]", "damping ratio", "real [1/s]", "imaginary [rad/s]", "kind"), rows)
    console.width = max(console.width, Measurement.get(console, console.options.update(width=1000), made).maximum)
    console.print(made)
    for sentence in facts["said"]:
        console.print(sentence, markup=False)
    if facts["zero_array"].size:
        console.print("zeros: " + ", ".join(f"{value.real:.5g}{value.imag:+.5g}j" for value in facts["zero_array"] if value.imag >= 0.0))
    for (given, output), margin in facts["margin_objects"].items():
        console.print(f"loop {given} = -{output}: {sentence_of(margin)}", markup=False)
    for each in facts["loops"]:
        console.print(f"controller {each.name} ({sampling(each)}): {sentence_of(each.margins)}", markup=False)


def sampling(each: Any) -> str:
    """How a controller's loop is sampled, and what its margins do not know."""
    words = f"{1.0 / each.period:.6g} Hz, {1e3 * each.delay:.4g} ms late" if each.period else "continuous"
    return words + ", at a limit of its command" * each.limited


def sentence_of(margin: Margins) -> str:
    """Margins in a line."""
    import numpy as np

    hertz = 2 * np.pi
    parts = ["stable" if margin.stable else "unstable"]
    if np.isfinite(margin.gain):
        parts.append(f"gain margin {margin.gain:.4g} at {margin.gain_at / hertz:.4g} Hz")
    if margin.gain_below > 0.0:
        parts.append(f"gain at least {margin.gain_below:.4g} of what it is")
    if np.isfinite(margin.phase):
        parts.append(f"phase margin {margin.phase:.4g}° at {margin.phase_at / hertz:.4g} Hz, delay margin {margin.delay:.4g} s")
    if margin.stable:
        parts.append(f"disk margin {margin.disk:.3g}: gain within {1 / margin.disk_gain:.3g} to {margin.disk_gain:.3g}, or {margin.disk_phase:.3g}°")
    return ", ".join(parts)


COMMAND = Command("linearize", linearize, place=50)
