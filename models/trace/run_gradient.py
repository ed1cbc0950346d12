"""Gradient of an output at the end of a run by parameters: the discrete adjoint of the steps that the run has made.

y_(n+1) = Φ(y_n, p) by rk4; λ_N = ∂g/∂y, λ_n = (∂Φ/∂y)ᵀ λ_(n+1), and the slopes by all parameters at once are ∂g/∂p + Σ (∂Φ/∂p)ᵀ λ + (∂y_0/∂p)ᵀ λ_0.
The products with transposed slopes are traced and compiled; the cost does not depend on the number of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.specialised.code import llvm_text
from kinetree.models.specialised.compiler import Machine, compiled
from kinetree.models.trace.adjoint import sweep
from kinetree.models.trace.mechanism import WORLD, record, results, traced
from kinetree.models.trace.program import finished
from kinetree.models.trace.trace import Trace

if TYPE_CHECKING:
    from kinetree.models.result.result import Result
    from kinetree.models.run.replay import Replay
    from kinetree.models.run.unit import Unit

REPEATED = 1e-6  # relative deviation of the repeated run at its end
SAME = 1e-9  # of a step: instants that are one
STATES = ("q", "u", "x")


class Function:
    """A compiled trace whose states, inputs and parameters are written one after another."""

    def __init__(self, trace: Trace, seeds: int = 0):
        self.machine: Machine = compiled(llvm_text(trace))
        sizes = [len(names) for names in trace.arguments.values()]
        self.fields = [np.zeros(max(1, size + extra)) for size, extra in zip(sizes, (0, 0, 0, 0, seeds), strict=True)]
        self.ends = np.cumsum(sizes[:3])
        self.parameters = sizes[4]
        self.out = np.zeros(len(trace.results))
        self.pointers = [each.ctypes.data for each in (*self.fields, self.out)]

    def __call__(self, t: float, y: np.ndarray, inputs: np.ndarray, seeds: np.ndarray | None = None) -> np.ndarray:
        q, u, x, given, parameters = self.fields
        a, b, c = self.ends
        q[:a], u[: b - a], x[: c - b] = y[:a], y[a:b], y[b:c]
        given[: inputs.size] = inputs
        if seeds is not None:
            parameters[self.parameters :] = seeds
        if self.machine.evaluate(t, *self.pointers) != 0:
            raise ValueError(f"at t = {t:g} an angle is beyond the range of the compiled equations")
        return self.out.copy()


def reversed_rates(unit: Unit) -> tuple[Trace, Trace]:
    """The rates of (q, u, x), and Σ seed ∂rates by states and parameters; the seeds stand behind the parameters."""
    system = unit.system
    recording = record(system, "rates", "symbols", "DEC", WORLD)
    nodes, labels, _ = results(system, recording, "rates", "DEC", WORLD)
    tape, c = recording.tape, system.compiled
    groups = {"q": c.coordinates, "u": c.speeds, "x": c.states, "inputs": c.inputs, "parameters": c.parameters}
    start = system._fast.ws.val
    values = {name: float(start[c.registers[name]]) for name in c.parameters}
    seeds: dict[int, int] = {}
    for k, node in enumerate(nodes):
        seed = tape.symbol("parameters", len(c.parameters) + k, 0.5)
        seeds[node] = tape.add(seeds[node], seed) if node in seeds else seed
    wanted = [tape.symbol(group, k, 0.0) for group in (*STATES, "parameters") for k in range(len(groups[group]))]
    slopes = sweep(tape, seeds, wanted)
    back = [slopes[i] for i in wanted]
    trace = Trace(system.name, "rates", "DEC in world axes", tape, finished(tape, nodes), labels, (len(nodes),), "rates", groups, values)
    return trace, replace(trace, results=finished(tape, back), labels=[str(k) for k in range(len(back))], shape=(len(back),))


def start_slopes(unit: Unit) -> np.ndarray:
    """∂(q, u, x)/∂p of the start values."""
    c = unit.system.compiled
    recording = record(unit.system, "rates", "symbols", "DEC", WORLD)
    tape = recording.tape
    sizes = ((c.start_q, len(c.coordinates)), (c.start_u, len(c.speeds)), (c.start_x, len(c.states)))
    nodes = [recording.node(recording.ws.val[first + k]) for first, size in sizes for k in range(size)]
    one, wanted = tape.constant(1.0), [tape.symbol("parameters", k, 0.0) for k in range(len(c.parameters))]
    rows = []
    for node in nodes:
        found = sweep(tape, {node: one}, wanted)
        rows.append([tape.values[found[i]] for i in wanted])
    return np.array(rows).reshape(len(nodes), len(wanted))


def refused(result: Result) -> str:
    """Why a run has no gradient here; empty when it has."""
    options, replay = result.options, result.replay
    if options is None or replay is None:
        return "the result was read from a file"
    unit = replay.unit
    if options.integrator != "rk4":
        return f"the run was made by '{options.integrator}', the adjoint is that of rk4: simulate(integrator='rk4', step=...)"
    if unit.system.compiled.loops:
        return "the mechanism has closed loops, whose projection after every step has no adjoint here"
    if len(unit.stages) > 1 or result.events or unit.method not in ("auto", "DEC"):
        return "the run has stages, events or another form, for which there is no adjoint here"
    return "the run was interrupted" if result.interrupted else ""


def grid(result: Result, h: float) -> np.ndarray:
    """Ends of all steps: multiples of the step; an output off them shortens a step and begins a new grid."""
    times = [float(result.time[0])]
    first, count = times[0], 0
    for target in result.time[1:]:
        while times[-1] < target:
            end = first + (count + 1) * h
            end = float(target) if end > target - SAME * h else end
            count += 1
            if abs(end - (first + count * h)) > 10.0 * SAME * h:
                first, count = end, 0
            times.append(end)
    return np.array(times)


def inputs_at(result: Result, replay: Replay, names: Sequence[str]) -> Callable[[float], np.ndarray]:
    """Inputs over time: straight lines between the instants of output."""
    rows = replay.inputs(len(result.time))
    return lambda t: np.array([np.interp(t, result.time, rows[:, k]) for k in range(len(names))])


def run_gradient(result: Result, output: str, parameters: Sequence[str] | None) -> np.ndarray:
    """∂(output at the end)/∂parameters."""
    problem, options, replay = refused(result), result.options, result.replay
    if problem or options is None or replay is None:
        raise ValueError(f"no gradient of '{output}': {problem}")
    unit = replay.unit
    c = unit.system.compiled
    chosen = list(c.parameters if parameters is None else parameters)
    unknown = [name for name in chosen if name not in c.parameters]
    if unknown:
        raise KeyError(f"unknown parameters: {', '.join(unknown)}; there are {', '.join(c.parameters)}")
    forward, backward = reversed_rates(unit)
    f, back = Function(forward), Function(backward, len(forward.results))
    values = np.array(list(forward.values.values()))
    for each in (f, back):
        each.fields[4][: values.size] = values
    times, given = grid(result, options.step), inputs_at(result, replay, c.inputs)
    path = steps(f, times, start_of(result, unit), given)
    names = (*c.coordinates, *c.speeds, *c.states)
    last = np.array([result[name][-1] for name in names])
    if np.abs(path[-1] - last).max(initial=0.0) > REPEATED * max(1.0, np.abs(last).max(initial=0.0)):
        raise ValueError("the run cannot be repeated step by step: its inputs are not straight between the outputs, or it is unstable")
    slopes = traced(unit.system, "outputs", "symbols", "DEC", WORLD)
    if output in names:
        of_end, by_parameters = np.eye(len(names))[names.index(output)], np.zeros(len(c.parameters))
    elif output in slopes.labels:
        by = slopes.gradient([*names, *c.parameters], of=output)
        q, u, x, w = (part.tolist() for part in (*np.split(last, f.ends[:2]), given(times[-1])))
        found = by.evaluate(times[-1], q, u, x, w, parameters=values)[0]
        order = [label.split(" / d ")[1] for label in by.labels]
        of_end, by_parameters = (np.array([found[order.index(name)] for name in part]) for part in (names, c.parameters))
    else:
        raise KeyError(f"'{output}' is no coordinate, speed, state or output; there are {', '.join((*names, *slopes.labels))}")
    first, total = adjoint(f, back, times, path, given, of_end)
    total = total + by_parameters + start_slopes(unit).T @ first
    return np.array([total[c.parameters.index(name)] for name in chosen])


def start_of(result: Result, unit: Unit) -> np.ndarray:
    """The state at the beginning."""
    c = unit.system.compiled
    return np.array([result[name][0] for name in (*c.coordinates, *c.speeds, *c.states)])


def stages(f: Function, t: float, h: float, y: np.ndarray, given: Callable[[float], np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Arguments and slopes of the four evaluations of one step."""
    arguments, slopes = [y], [f(t, y, given(t))]
    for part in (0.5, 0.5, 1.0):
        arguments.append(y + part * h * slopes[-1])
        slopes.append(f(t + part * h, arguments[-1], given(t + part * h)))
    return arguments, slopes


def steps(f: Function, times: np.ndarray, y: np.ndarray, given: Callable[[float], np.ndarray]) -> list[np.ndarray]:
    """The states at the ends of all steps."""
    path = [y]
    for t, end in zip(times[:-1], times[1:], strict=True):
        h = end - t
        _, (k1, k2, k3, k4) = stages(f, t, h, path[-1], given)
        path.append(path[-1] + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4))
    return path


def adjoint(
    f: Function, back: Function, times: np.ndarray, path: list[np.ndarray], given: Callable[[float], np.ndarray], last: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of the end by the first state, and by the parameters through all steps."""
    n = last.size
    adjoint, total = last, np.zeros(back.out.size - n)
    for k in range(len(times) - 2, -1, -1):
        t, h = times[k], times[k + 1] - times[k]
        arguments, _ = stages(f, t, h, path[k], given)
        carried, sum_ = np.zeros(n), adjoint.copy()
        for share, after, at, y in zip((1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 1.0, 0.5, 0.5), (1.0, 0.5, 0.5, 0.0), reversed(arguments), strict=True):
            found = back(t + at * h, y, given(t + at * h), h * (share * adjoint + after * carried))
            carried = found[:n]
            sum_ += carried
            total += found[n:]
        adjoint = sum_
    return adjoint, total
