"""Straight lines of a source FMU that are cut into several functions: compiled as strict C99, they give the rates of the one function."""

import ctypes
import subprocess

import numpy as np
import pytest

from kinetree.fmu.source import own_code
from kinetree.fmu.source.archive import STRICT
from kinetree.models import load
from kinetree.models.run.simulation_unit import make_unit
from kinetree.models.specialised.specialised_rates import motions
from kinetree.solvers.library.c_compiler import compiler

HEADER = (
    "#include <stddef.h>\n#include <stdint.h>\ntypedef int32_t (*OwnCode)(double t, const double *y, const double *val, double *ydot);\n"
    "#define EXPORTED\n"
)


def compiled(text: str, folder) -> ctypes._CFuncPtr:
    """The first function of the table."""
    folder.mkdir()
    (folder / "engine.h").write_text(HEADER)
    (folder / "own.c").write_text(text)
    command = [
        *compiler(),
        *STRICT,
        "-shared",
        "-fPIC",
        f"-I{folder}",
        str(folder / "own.c"),
        "-lm",
        "-o",
        str(folder / "own.so"),
    ]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "own.so"))
    address = (ctypes.c_void_p * 1).in_dll(library, "kt_own_table")[0]
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *(ctypes.c_void_p,) * 3)(address)
    function.library = library
    return function


@pytest.mark.parametrize("name", ["four-bar", "boom-drive"])
def test_code_in_blocks_gives_rates_of_unsplit_code(name: str, monkeypatch, tmp_path):
    """Numbers and conditions cross, rates and what is watched fall into any block; parameters that differ are refused by the first one."""
    unit = make_unit(load(f"lib:{name}").compile(), "rk4")
    found = motions(unit)
    whole = compiled(own_code.own_text(found), tmp_path / "whole")
    monkeypatch.setattr(own_code, "BLOCK", 6)
    monkeypatch.setattr(own_code, "WHOLE", 0)
    text = own_code.own_text(found)
    assert text.count("double *kept)") > 5
    cut = compiled(text, tmp_path / "cut")
    c, val = unit.compiled[0], unit.system._fast.ws.val.copy()
    q, u = unit.system.start()
    y = np.concatenate([q, u + 0.1, val[c.start_x : c.start_x + len(c.states)]])
    rates = [np.full(y.size + 1, np.nan) for _ in range(2)]
    for function, out in zip((whole, cut), rates, strict=True):
        assert function(0.2, y.ctypes.data, val.ctypes.data, out.ctypes.data) == 0
    assert np.array_equal(*rates)
    val[found[0].parameters[0][0]] += 1.0
    assert cut(0.2, y.ctypes.data, val.ctypes.data, rates[0].ctypes.data) == 1
