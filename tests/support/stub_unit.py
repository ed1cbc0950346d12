"""A unit for the stand-in engine of data/stub_engine.c: a mass on a spring in two stages, laid out by hand."""

import subprocess
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from kinetree.fmu.native.shell import ENTRIES, layout_header, linked
from kinetree.fmu.unit import Input, Parameter, State
from kinetree.models import load
from kinetree.models.expressions.columns import Column
from kinetree.solvers import unit_layout as U
from kinetree.solvers.cache import cache_root
from kinetree.solvers.library.c_compiler import compiler
from kinetree.solvers.model_records import HEADER

SOURCE = Path(__file__).parents[1] / "data" / "stub_engine.c"

DESCRIPTION = {
    "format": "kinetree/1",
    "name": "Spring & mass",
    "gravity": [0, 0, 0],
    "parameters": {
        "k": {
            "value": 40.0,
            "unit": "N/m",
            "min": 0,
            "tunable": True,
            "text": "stiffness <of the spring>",
        },
        "m": {"value": 2.0, "unit": "kg"},
        "c": {"value": 0.5, "unit": "N.s/m", "min": 0, "max": 5},
        "limit": 1.0,
    },
    "inputs": {"pull": {"start": 3.0, "unit": "N", "min": -100, "max": 100}},
    "bodies": {"block": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
    "joints": {
        "slide": {
            "child": "block",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["x"],
            "start": 0.25,
        }
    },
    "forces": {"spring": {"coordinate": "x", "value": "pull - k*x - c*der(x)"}},
    "outputs": {"power": {"value": "pull*der(x)", "unit": "W"}},
}


def stub_unit(**parameters: float) -> SimpleNamespace:
    """A unit with columns x, der(x), power; states x, der(x); one guard."""
    mechanism = load(DESCRIPTION, **parameters)
    system = mechanism.compile()
    c = system.compiled
    stages, columns, states, guards = 2, 3, 2, 1
    at = U.UNIT.size + U.STAGE.size * stages
    tables = [
        c.registers["x"],
        c.registers["der(x)"],
        c.outputs[0].register,
        0,
        1,
        c.start_q,
        c.start_u,
        1,
    ]
    first = at + c.ints.size
    record = U.STAGE.filled(
        ints=at, floats=0, columns=first, states=first + 3, bodies=first + 7, guards=guards
    )
    sizes = {
        "columns": columns,
        "states": states,
        "rates": states,
        "guards": guards,
        "locator": U.LOCATOR.size + U.GUARD_STATE.size * guards,
        "slopes": 1,
        "workspace": 64 + c.floats.size,
    }
    places, work_size = {}, U.UNIT_HEAD.size
    for part in U.PARTS:
        places[f"at_{part.name}"] = work_size
        work_size += sizes.get(part.name, 0)
    head = U.UNIT.filled(
        stages=stages, columns=columns, states=states, guards=guards, bodies=1, inputs=1, start_inputs=c.start_inputs,
        ints_size=first + len(tables), floats_size=c.floats.size, work_size=work_size, **places,
    )  # fmt: skip
    ints = np.concatenate(
        [
            np.array([*head, *record * stages], dtype=np.int64),
            c.ints,
            np.array(tables, dtype=np.int64),
        ]
    )
    d = mechanism.description
    parameters = [
        Parameter(
            name, c.registers[name], float(p.value), False, p.tunable, p.unit, p.text, p.min, p.max
        )
        for name, p in d.parameters.items()
    ]
    inputs = [Input(n, c.registers[n], i.start, i.unit, i.min, i.max) for n, i in d.inputs.items()]
    return SimpleNamespace(
        ints=ints,
        header=U.UNIT.of(ints),
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
        options={U.UNIT_HEAD.at("relative"): 1e-8, U.UNIT_HEAD.at("absolute"): 1e-10},
        run=SimpleNamespace(
            start_time=0.0, stop_time=10.0, output_step=1e-3, relative=1e-8, integrator="rk4"
        ),
    )


@lru_cache(maxsize=1)
def stub_shell() -> Path:
    """The C shell linked with the stand-in engine."""
    folder = cache_root() / "stub"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unit_layout.h").write_text(
        layout_header() + f"#define H_REGISTERS {HEADER.at('registers')}\n"
    )
    code = folder / "engine.o"
    command = [
        *compiler(),
        "-std=c11",
        "-O2",
        "-fPIC",
        f"-I{folder}",
        "-c",
        str(SOURCE),
        "-o",
        str(code),
    ]
    subprocess.run(command, check=True)
    return linked([code])


def stub_calls():
    """Binder of the stand-in engine's entries, as kinetree.models.engine.entry_points.bind."""
    import ctypes

    library = ctypes.CDLL(str(stub_shell()))
    library.best_engine.restype = ctypes.POINTER(ctypes.c_void_p)
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_double,
    )
    entries = {f"unit_{name}": kind(library.best_engine()[k]) for k, name in enumerate(ENTRIES)}

    def bind(name, ints, floats, work):
        return lambda option, t: entries[name](
            ints.ctypes.data, floats.ctypes.data, work.ctypes.data, option, t
        )

    return bind
