"""A unit for the stand-in engine of data/stub_engine.c: a mass on a spring in two stages, laid out by hand."""

import subprocess
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from kinetree.fmu.native.shell import ENTRIES, layout_header, linked
from kinetree.fmu.unit import Input, Parameter, State
from kinetree.models import load
from kinetree.models.compilation.compiled import Column
from kinetree.solvers import unit_layout as U
from kinetree.solvers.cache import cache_root
from kinetree.solvers.library.tools import compiler

SOURCE = Path(__file__).parents[1] / "data" / "stub_engine.c"

DESCRIPTION = {
    "format": "kinetree/1",
    "name": "Spring & mass",
    "gravity": [0, 0, 0],
    "parameters": {
        "k": {"value": 40.0, "unit": "N/m", "min": 0, "tunable": True, "text": "stiffness <of the spring>"},
        "m": {"value": 2.0, "unit": "kg"},
        "c": {"value": 0.5, "unit": "N.s/m", "min": 0},
        "limit": 1.0,
    },
    "inputs": {"pull": {"start": 3.0, "unit": "N", "min": -100, "max": 100}},
    "bodies": {"block": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {"slide": {"child": "block", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": 0.25}},
    "forces": {"spring": {"coordinate": "x", "value": "pull - k*x - c*der(x)"}},
    "outputs": {"power": {"value": "pull*der(x)", "unit": "W"}},
}


def stub_unit(**parameters: float) -> SimpleNamespace:
    """A unit with columns x, der(x), power; states x, der(x); one guard."""
    mechanism = load(DESCRIPTION, **parameters)
    system = mechanism.compile()
    c = system.compiled
    stages, columns, states, guards = 2, 3, 2, 1
    head = np.zeros(U.UNIT_HEADER + U.STAGE * stages, dtype=np.int64)
    at = head.size + c.ints.size
    tables = [c.registers["x"], c.registers["der(x)"], c.outputs[0].register, 0, 1, c.start_q, c.start_u, 1]
    for stage in range(stages):
        record = head[U.UNIT_HEADER + U.STAGE * stage :]
        record[U.S_INTS], record[U.S_FLOATS] = head.size, 0
        record[U.S_COLUMNS], record[U.S_STATES], record[U.S_BODIES], record[U.S_GUARDS] = at, at + 3, at + 7, guards
    places = np.cumsum([U.UNIT_HEAD, columns, states, states, guards, guards, 0, 1, 0]).tolist()
    names = (U.U_AT_COLUMNS, U.U_AT_STATES, U.U_AT_RATES, U.U_AT_GUARDS, U.U_AT_ARMED, U.U_AT_BODIES, U.U_AT_SLOPES, U.U_AT_MEMORY, U.U_BASE)
    for key, place in zip(names, places, strict=True):
        head[key] = place
    head[U.U_STAGES], head[U.U_COLUMNS], head[U.U_STATES], head[U.U_GUARDS], head[U.U_BODIES] = stages, columns, states, guards, 1
    head[U.U_INPUTS], head[U.U_START_INPUTS] = 1, c.start_inputs
    work_size = places[-1] + 64 + c.floats.size
    head[U.U_SIZES : U.U_SIZES + 3] = head.size + c.ints.size + len(tables), c.floats.size, work_size
    d = mechanism.description
    parameters = [
        Parameter(name, c.registers[name], float(p.value), False, p.tunable, p.unit, p.text, p.min, p.max) for name, p in d.parameters.items()
    ]
    inputs = [Input(n, c.registers[n], i.start, i.unit, i.min, i.max) for n, i in d.inputs.items()]
    return SimpleNamespace(
        ints=np.concatenate([head, c.ints, np.array(tables, dtype=np.int64)]),
        floats=c.floats,
        work_size=work_size,
        columns=[Column("x", 0, "m"), Column("der(x)", 0, "m/s"), Column("power", 0, "W")],
        parameters=parameters,
        inputs=inputs,
        states=[State("x", c.start_q, "m", 0.25), State("der(x)", c.start_u, "m/s", 0.0)],
        stage_names=["pulled", "released"],
        description=d,
        system=system,
        bodies=["block"],
        options={U.V_RELATIVE: 1e-8, U.V_ABSOLUTE: 1e-10},
        run=SimpleNamespace(start_time=0.0, stop_time=10.0, output_step=1e-3, relative=1e-8, integrator="rk4"),
    )


@lru_cache(maxsize=1)
def stub_shell() -> Path:
    """The C shell linked with the stand-in engine."""
    folder = cache_root() / "stub"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unit_layout.h").write_text(layout_header())
    code = folder / "engine.o"
    command = [*compiler(), "-std=c11", "-O2", "-fPIC", f"-I{folder}", "-c", str(SOURCE), "-o", str(code)]
    subprocess.run(command, check=True)
    return linked([code])


def stub_calls():
    """Binder of the stand-in engine's entries, as kinetree.models.run.engine.bind."""
    import ctypes

    library = ctypes.CDLL(str(stub_shell()))
    library.best_engine.restype = ctypes.POINTER(ctypes.c_void_p)
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double)
    entries = {f"unit_{name}": kind(library.best_engine()[k]) for k, name in enumerate(ENTRIES)}

    def bind(name, ints, floats, work):
        return lambda option, t: entries[name](ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option, t)

    return bind
