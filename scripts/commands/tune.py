"""`kinetree tune`: controllers of a scenario, shaped to margins on the mechanism's linearised motion."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.scripts.terminal.arguments import Quiet, writable
from kinetree.scripts.terminal.as_json import Json, keep_json, show_json

if TYPE_CHECKING:
    from kinetree.models.analysis.frequency import StateSpace


def tune(
    file: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario of kinetree hil with [[loops]], perhaps [tune] and [lqr].")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Everything found: .json.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the fastest P, PI, PD or PID of every loop that keeps its margins with the dead time of the exchange, and state feedback by [lqr].

    Loops are tuned one after another, in the order of the file, each with those before it closed.
    """
    from kinetree.models import load
    from kinetree.models.analysis.moment import linear_at_rest
    from kinetree.scripts.hil.scenario import read_scenario
    from kinetree.scripts.studies.tuning import regulator, snippet, tuned
    from kinetree.scripts.terminal.failure import BadInput

    writable(output, (".json",), "--output")
    scenario = read_scenario(file)
    if scenario.mechanism is None:
        raise BadInput(f"{file}: tuning needs the mechanism, not its FMU")
    mechanism = load(scenario.mechanism)
    parameters = {name: value for name, value in scenario.values.items() if name in mechanism.description.parameters}
    system = mechanism.compile(**parameters)
    inputs = {name: value for name, value in scenario.values.items() if name in system.compiled.inputs}
    known = (*(column.name for column in system.compiled.outputs), *system.compiled.registers)
    for name, names, kind in [
        *((m, known, "measure") for m in scenario.measures),
        *((c, system.compiled.inputs, "command") for c in scenario.commands),
    ]:
        if name not in names:
            raise BadInput(f"{file}: {kind} '{name}' is not there; there are {', '.join(names[:20])}")
    linear = linear_at_rest(system, inputs or None, scenario.measures)
    delay = 1.5 * scenario.step + 2 * scenario.channel.delay + scenario.channel.jitter
    whole = linear.part(scenario.commands, scenario.measures)
    found = {}
    for table in scenario.loops:
        plant = whole.single(scenario.measures.index(table["measure"]), scenario.commands.index(table["command"]))
        kinds = [key for key in ("kp", "ki", "kd") if key in table] or ["kp"]
        result = tuned(plant, kinds, delay, scenario.tune)
        name = f"{table['command']} by {table['measure']}"
        if result is None:
            raise BadInput(
                f"{file}: {name}: no {''.join(kinds)} keeps these margins with a dead time of {1e3 * delay:.3g} ms: ask for less, or add kd"
            )
        whole = closed_over(whole, table | result.numbers, scenario.measures, scenario.commands)
        found[name] = {**result.numbers, "crossover": result.crossover, "bandwidth": result.bandwidth, "delay": delay, **result.margins.to_dict()}
        if not (quiet or json):
            typer.echo(f"{name}: crosses at {result.crossover / 6.283185307:.4g} Hz with {1e3 * delay:.3g} ms of dead time")
            typer.echo(f"  {words(result.margins)}\n{snippet(table, result.numbers)}")
    if scenario.lqr:
        K, values = regulator(linear, scenario.commands, scenario.lqr.get("states", {}), scenario.lqr.get("inputs", {}))
        gains = {u: dict(zip(linear.states, map(float, row), strict=True)) for u, row in zip(scenario.commands, K, strict=True)}
        found["lqr"] = {"gains": gains, "eigenvalues": [[value.real, value.imag] for value in values]}
        if not (quiet or json):
            for u, row in gains.items():
                typer.echo(f"{u} = -(" + " + ".join(f"{gain:.6g}*{state}" for state, gain in row.items()) + ")")
            typer.echo("eigenvalues with it: " + ", ".join(f"{value.real:.4g}{value.imag:+.4g}j" for value in values if value.imag >= 0))
    keep_json(found, output)
    if json:
        show_json(found)


def words(margins) -> str:
    from kinetree.scripts.commands.linearize import sentence_of

    return sentence_of(margins)


def closed_over(whole: "StateSpace", table: dict, measures: list[str], commands: list[str]):
    """The plant with one loop closed, dead time left aside: u = C (0 - y) on its command, which others still see."""
    import numpy as np

    from kinetree.models.analysis.frequency import StateSpace
    from kinetree.scripts.hil.design import pid

    i, j = measures.index(table["measure"]), commands.index(table["command"])
    C = pid(**{key: float(table.get(key, 0.0)) for key in ("kp", "ki", "kd", "filter")})
    b, c, d = whole.B[:, j : j + 1], whole.C[i : i + 1], float(whole.D[i, j])
    k = 1.0 / (1.0 + C.D[0, 0] * d)
    # u = k (C_c x_c - D_c c z) with e = -y; other inputs' feedthrough to this measure is kept in D
    row = np.hstack((-k * C.D * c, k * C.C))
    n, m = len(whole.A), len(C.A)
    A = np.block([[whole.A, np.zeros((n, m))], [-C.B @ c, C.A]]) + np.vstack((b, -C.B * d)) @ row
    E = np.hstack((whole.C, np.zeros((len(whole.C), m)))) + whole.D[:, j : j + 1] @ row
    return StateSpace(A, np.vstack((whole.B, -C.B @ whole.D[i : i + 1])), E, whole.D)
