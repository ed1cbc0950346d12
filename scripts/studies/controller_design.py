"""Controller design of `kinetree tune`: PID loops, state feedback, observer, as [controllers] tables.

Loops are tuned one after another, in
the order of the file, each with the earlier ones closed; several loops are then tuned again with
all others closed. Finally the controllers are put into the mechanism, and margins are computed
there with sampling and delay as in a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinetree.models.analysis.frequency_response import StateSpace, margins
from kinetree.models.analysis.linearization import Linear
from kinetree.models.analysis.sampled_loops import held_plant
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.hil.scenario import Scenario
from kinetree.scripts.studies.controller_tables import (
    Blocks,
    pid_blocks,
    place_of,
    sampling_of,
    with_blocks,
)
from kinetree.scripts.studies.loop_tuning import (
    Tuned,
    controller_of,
    forward_gains,
    notched,
    period_of,
    regulator,
    tuned,
)
from kinetree.scripts.studies.lqg import Observed, observed
from kinetree.scripts.terminal.error_messages import BadInput

HELD = 1e-3  # of the accelerations at the start, that commands may leave of them
LEAST = 1e-6  # of a measure: less counts as nothing
FAR = 0.02  # of a setpoint, by which a mechanism may be tuned beside it
INSTANT = 1e-9  # s, of a run that tells how it begins
NUMBERS = ("kp", "ki", "kd", "filter")
Closed = tuple[dict[str, float], dict[str, float] | None]  # numbers and notch of a loop
ROUNDS, SETTLED = 8, 1e-3  # over several loops, until their crossovers stay


@dataclass
class Design:
    """The results of a design."""

    scenario: Scenario
    delay: float  # from a sample to its command, with the largest jitter
    loops: list[tuple[dict[str, Any], Tuned, tuple[float, float] | None]] = field(
        default_factory=list
    )  # table, result, feed-forward
    feedback: tuple[np.ndarray, np.ndarray] | None = None  # K and eigenvalues
    observer: Observed | None = None
    linear: Linear | None = None
    notes: list[str] = field(default_factory=list)
    known: dict[str, float] = field(default_factory=dict)  # where it was linearised
    blocks: dict[str, Blocks] = field(default_factory=dict)  # by way: pid, lqr, lqg
    closed: dict[str, list[Any]] = field(
        default_factory=dict
    )  # control loops with the blocks in the mechanism


def design(scenario: Scenario) -> Design:
    """Tune all controllers that the scenario asks for."""
    from kinetree.models import load

    if scenario.mechanism is None:
        raise BadInput(f"{scenario.path}: tuning needs the mechanism, not its FMU")
    mechanism = load(scenario.described())
    parameters = {
        name: value
        for name, value in scenario.values.items()
        if name in mechanism.description.parameters
    }
    system = mechanism.compile(**parameters)
    inputs = {
        name: value for name, value in scenario.values.items() if name in system.compiled.inputs
    }
    check_names(scenario, system)
    linear, known = working_point(scenario, system, inputs)
    sampling = sampling_of(scenario.step, scenario.channel.delay, scenario.channel.jitter)
    found = Design(scenario, sum_of(sampling), linear=linear, known=known)
    starts = {
        name: float(value)
        for name, value in zip(system.compiled.inputs, system._fast.input_starts(), strict=True)
    } | inputs
    offsets = {command: starts[command] for command in scenario.commands}
    if scenario.at == "start":
        offsets |= holding(scenario, system, starts)
    d = system.description
    places = {command: place_of(command, d.actuators, d.inputs) for command in scenario.commands}
    tune_loops(found, linear, sampling)
    found.notes += far_setpoints(scenario, known)
    if found.loops:
        found.blocks["pid"] = loop_blocks(found, places, offsets, sampling)
    if scenario.lqr:
        states = scenario.lqr.get("states", {})
        found.feedback = regulator(
            linear, scenario.commands, states, scenario.lqr.get("inputs", {})
        )
        values = (
            known
            | dict.fromkeys(linear.states, 0.0)
            | {name: known[name] for name in linear.states if name in known}
        )
        found.blocks["lqr"] = feedback_blocks(found, places, offsets, values, linear)
    if scenario.lqg:
        found.observer = observed(
            linear,
            scenario.commands,
            scenario.measures,
            scenario.step,
            sum_of(sampling),
            scenario.lqg,
        )
        block = (
            found.observer.block(
                scenario.measures, [known.get(name, 0.0) for name in scenario.measures]
            )
            | sampling
        )
        found.blocks["lqg"] = observer_blocks(block, places, offsets)
    for way, blocks in found.blocks.items():
        try:
            found.closed[way] = closed_loops(scenario, blocks, parameters)
        except (
            EvaluationError
        ) as error:  # the design stands; what it has in the mechanism is not known
            found.notes.append(
                f"{way}: margins in the mechanism are not known, since with these controllers in it no state of rest is found: {error}"
            )
    return found


def working_point(
    scenario: Scenario, system: Any, inputs: dict[str, float]
) -> tuple[Linear, dict[str, float]]:
    """Return the linear system and its operating point, equilibrium or start."""
    from kinetree.models.analysis.operating_point import linear_at_rest, linear_at_time
    from kinetree.models.system.controller_variants import resting

    if scenario.at == "rest":
        rest = resting(system).equilibrium(inputs=inputs or None)
        return linear_at_rest(
            system, inputs or None, scenario.measures
        ), rest.outputs | rest.coordinates | rest.states
    held = {
        table["command"]: float(table["offset"]) for table in scenario.loops if "offset" in table
    } | inputs
    begin = system.simulate(stop_time=INSTANT, output_step=INSTANT, inputs=held or None)
    linear = linear_at_time(system, begin.time[0], held or None, scenario.measures)
    return linear, {name: float(begin[name][0]) for name in (*linear.states, *scenario.measures)}


def holding(scenario: Scenario, system: Any, inputs: dict[str, float]) -> dict[str, float]:
    """Return the commands that keep the start state in equilibrium; empty if the mechanism moves at
    the start.
    """
    wanted = [table["command"] for table in scenario.loops if "offset" not in table]
    wanted = wanted or ([] if scenario.loops else scenario.commands)
    own = {
        table["command"]: float(table["offset"]) for table in scenario.loops if "offset" in table
    }
    q, u = system.start()
    if not wanted or np.any(u):
        return {}

    def begun(values: dict[str, float]) -> np.ndarray:
        given = inputs | own | values
        return system.accelerations(system.compiled.start_time, q, u, inputs=given)

    free = begun({})
    columns = [begun({name: inputs[name] + 1.0}) - free for name in wanted]
    found, *_ = np.linalg.lstsq(np.column_stack(columns), -free, rcond=None)
    values = {
        name: inputs[name] + float(change) for name, change in zip(wanted, found, strict=True)
    }
    left = np.abs(begun(values)).max()
    return values if left <= HELD * np.abs(free).max() else {}


def sum_of(sampling: dict[str, float]) -> float:
    """Return the worst-case delay from sample to command."""
    return sampling["delay"] + sampling.get("jitter", 0.0)


def check_names(scenario: Scenario, system: Any) -> None:
    """Check that measurements and commands exist."""
    known = (*(column.name for column in system.compiled.outputs), *system.compiled.registers)
    for names, among, kind in (
        (scenario.measures, known, "measure"),
        (scenario.commands, system.compiled.inputs, "command"),
    ):
        for name in names:
            if name not in among:
                there = (
                    f"there are {', '.join(among[:20])}"
                    if among
                    else f"{scenario.mechanism} has no inputs and no actuators that wait for a force"
                )
                raise BadInput(f"{scenario.path}: {kind} '{name}' is not there; {there}")


def tune_loops(found: Design, linear: Linear, sampling: dict[str, float]) -> None:
    """Tune the loops in order, each with earlier ones closed, then each with all others closed."""
    scenario = found.scenario
    results: dict[int, Tuned] = {}
    smooth = linear.part(scenario.commands, scenario.measures).moving()
    whole = held_plant(smooth, sampling["period"], sum_of(sampling))
    for turn in range(ROUNDS if len(scenario.loops) > 1 else 1):
        before = dict(results)
        for k, table in enumerate(scenario.loops):
            closed = laws_of(results)
            result = loop_of(alone(whole, scenario, closed, k), table, scenario, results.get(k))
            if (
                result is None and turn == 0 and len(scenario.loops) > 1
            ):  # what the others hold may fall by itself: with the numbers that they come with
                rough = {
                    other: ({key: float(each.get(key, 0.0)) for key in NUMBERS}, None)
                    for other, each in enumerate(scenario.loops)
                }
                result = loop_of(alone(whole, scenario, rough | closed, k), table, scenario, None)
            if result is None and turn == 0:
                late = f"sampled every {1e3 * scenario.step:.3g} ms and {1e3 * sum_of(sampling):.3g} ms late"
                others = (
                    ", or give the other loops numbers that hold what they are to hold"
                    if len(scenario.loops) > 1
                    else ""
                )
                kinds = kinds_of(table)
                allow = "" if "kd" in kinds else ", or allow kd"
                what = f"no controller with {', '.join(kinds)} that crosses |L| = 1 meets these margins {late}: lower the margins{allow}{others}"
                raise BadInput(f"{scenario.path}: {name_of(table)}: {what}")
            results[k] = result or results[k]
        if all(
            k in before and abs(r.crossover - before[k].crossover) < SETTLED * r.crossover
            for k, r in results.items()
        ):
            break
    for k in results:  # with all others as they were found at last
        C = controller_of(results[k].numbers, sampling["period"], results[k].notch)
        results[k] = replace(
            results[k], margins=margins(alone(whole, scenario, laws_of(results), k).then(C))
        )
    for k, table in enumerate(scenario.loops):
        forward = (
            forward_gains(alone(smooth, scenario, laws_of(results), k), results[k].crossover)
            if scenario.forward
            else None
        )
        found.loops.append((table, results[k], forward))


def far_setpoints(scenario: Scenario, known: dict[str, float]) -> list[str]:
    """Return sentences on loops whose constant setpoint is not where the mechanism was linearised."""
    found = []
    for table in scenario.loops:
        wanted, there = table.get("setpoint", 0.0), known.get(table["measure"])
        moving = table["measure"] in scenario.setpoints  # from there on by a law of time
        if there is None or moving or not isinstance(wanted, (int, float)):
            continue
        if abs(wanted - there) > max(FAR * max(abs(wanted), abs(there)), LEAST):
            found.append(
                f"{name_of(table)}: tuned about {table['measure']} = {there:.4g}, where the mechanism "
                f"{'rests' if scenario.at == 'rest' else 'starts'}, not about its setpoint {wanted:.4g}"
            )
    return found


def kinds_of(table: dict[str, Any]) -> list[str]:
    return [key for key in ("kp", "ki", "kd") if key in table] or ["kp"]


def loop_of(
    plant: StateSpace, table: dict[str, Any], scenario: Scenario, before: Tuned | None
) -> Tuned | None:
    """Return the tuned controller of one loop; None if no controller keeps the margins."""
    if scenario.notch and before is None:
        return notched(plant, kinds_of(table), 0.0, scenario.tune)
    return tuned(plant, kinds_of(table), 0.0, scenario.tune, before.notch if before else None)


def laws_of(results: dict[int, Tuned]) -> dict[int, Closed]:
    return {k: (result.numbers, result.notch) for k, result in results.items()}


def alone(whole: StateSpace, scenario: Scenario, closed: dict[int, Closed], k: int) -> StateSpace:
    """Return the plant between command and measurement of loop k, with the other loops closed."""
    for other, law in closed.items():
        if other != k:
            whole = closed_over(whole, scenario.loops[other], law, scenario)
    table = scenario.loops[k]
    i, j = scenario.measures.index(table["measure"]), scenario.commands.index(table["command"])
    return replace(
        whole, B=whole.B[:, j : j + 1], C=whole.C[i : i + 1], D=whole.D[i : i + 1, j : j + 1]
    )


def name_of(table: dict[str, Any]) -> str:
    return f"{table['command']} by {table['measure']}"


def loop_blocks(
    found: Design, places: dict, offsets: dict[str, float], sampling: dict[str, float]
) -> Blocks:
    """Return the tables of PID controllers with their offsets."""
    blocks: Blocks = {}
    for table, result, forward in found.loops:
        name, drives = places[table["command"]]
        more = {
            **drives,
            **sampling,
            "start": float(table.get("offset", offsets[table["command"]])),
        }
        law = found.scenario.setpoints.get(table["measure"])
        if law is not None:
            more["setpoint"] = law
            more |= (
                dict(
                    zip(("speed_forward", "acceleration_forward"), map(float, forward), strict=True)
                )
                if forward
                else {}
            )
        blocks |= pid_blocks(
            name, {"offset": offsets[table["command"]], **table}, result.numbers, more, result.notch
        )
    return blocks


def feedback_blocks(
    found: Design, places: dict, offsets: dict[str, float], rests: dict[str, float], linear: Linear
) -> Blocks:
    """Return the tables of continuous state feedback, one controller per command."""
    assert found.feedback is not None
    blocks: Blocks = {}
    for command, row in zip(found.scenario.commands, found.feedback[0], strict=True):
        name, drives = places[command]
        gains = {state: float(gain) for state, gain in zip(linear.states, row, strict=True)}
        held = {state: float(rests[state]) for state in gains if rests.get(state)}
        blocks[name] = {
            "kind": "state-feedback",
            "gains": gains,
            "rests": held,
            "offset": offsets[command],
            **drives,
        }
    return blocks


def observer_blocks(block: dict[str, Any], places: dict, offsets: dict[str, float]) -> Blocks:
    """Return the tables of an observer with feedback to all commands."""
    names = [name for name, _ in places.values()]
    driven = [drives.get("drives") for _, drives in places.values()]
    if len(names) == 1:
        offset = next(iter(offsets.values()))
        return {
            names[0]: block
            | ({"drives": driven[0]} if driven[0] else {})
            | {"offset": offset, "start": offset}
        }
    if None in driven or len(set(offsets.values())) > 1:
        raise BadInput(
            "an observer with several commands drives actuators that rest with one and the same force, such as 0"
        )
    return {"observer": block | {"commands": driven, "offset": next(iter(offsets.values()))}}


def closed_loops(scenario: Scenario, blocks: Blocks, parameters: dict[str, float]) -> list[Any]:
    """Return the margins of the loops with the controllers in the mechanism."""
    from kinetree.models import load
    from kinetree.models.analysis.control_loops import control_loops

    return control_loops(load(with_blocks(scenario.described(), blocks, parameters)).compile())


def closed_over(whole: StateSpace, table: dict, law: Closed, scenario: Scenario) -> StateSpace:
    """Return the plant with one control loop closed."""
    i, j = scenario.measures.index(table["measure"]), scenario.commands.index(table["command"])
    C = controller_of(law[0], period_of(whole), law[1])
    b, c, d = whole.B[:, j : j + 1], whole.C[i : i + 1], float(whole.D[i, j])
    k = 1.0 / (1.0 + C.D[0, 0] * d)
    # u = k (C_c x_c - D_c (c z + D_i v)) with e = -y, v what acts on all commands besides
    row, through = np.hstack((-k * C.D * c, k * C.C)), -k * C.D @ whole.D[i : i + 1]
    n, m = len(whole.A), len(C.A)
    into, out = np.vstack((b, -C.B * d)), whole.D[:, j : j + 1]
    A = np.block([[whole.A, np.zeros((n, m))], [-C.B @ c, C.A]]) + into @ row
    B = np.vstack((whole.B, -C.B @ whole.D[i : i + 1])) + into @ through
    E = np.hstack((whole.C, np.zeros((len(whole.C), m)))) + out @ row
    return replace(whole, A=A, B=B, C=E, D=whole.D + out @ through)
