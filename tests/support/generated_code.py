"""Runs generated equations: Python as a module, C through the compiler, CasADi and Modelica through their tools."""

import ctypes
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np

GROUPS = ("q", "u", "x", "inputs", "parameters")
STRICT = (
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-O1",
    "-ffp-contract=off",
    "-shared",
    "-fPIC",
)


def module(text: str, folder: Path) -> ModuleType:
    """The generated text as a module."""
    path = folder / f"generated_{abs(hash(text))}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def only_function(text: str, folder: Path):
    """The one function of a generated module."""
    found = module(text, folder)
    (name,) = [
        name for name in vars(found) if not name.startswith("_") and name not in ("np", "ca")
    ]
    return getattr(found, name)


def run_python(text: str, folder: Path, *arguments) -> np.ndarray:
    return only_function(text, folder)(*arguments)


def run_c(text: str, folder: Path, size: int, t: float, *arrays) -> np.ndarray:
    """Compiled without a warning as strict C99, called as documented."""
    source, library = folder / "generated.c", folder / f"generated_{abs(hash(text))}.so"
    source.write_text(text, encoding="utf-8")
    subprocess.run(["cc", *STRICT, str(source), "-lm", "-o", str(library)], check=True)
    name = text[text.index("void ") + 5 :].split("(")[0]
    held = [np.ascontiguousarray([*array, 0.0], dtype=float) for array in arrays]
    out = np.full(size + 1, np.nan)
    pointer = ctypes.POINTER(ctypes.c_double)
    getattr(ctypes.CDLL(str(library)), name)(
        ctypes.c_double(t), *[each.ctypes.data_as(pointer) for each in (*held, out)]
    )
    return out[:size]


def run_casadi(text: str, folder: Path, t: float, *arrays) -> np.ndarray:
    function = only_function(text, folder)()
    return np.array(function(t, *[np.asarray(array, dtype=float) for array in arrays]))


def run_modelica(text: str, size: int, t: float, *arrays) -> np.ndarray:
    """One call of the function at the beginning of a simulation."""
    import rumoca

    name = text[text.index("\nfunction ") + 10 :].split()[0]
    given = ", ".join(
        "{" + ", ".join(map(repr, map(float, array))) + "}" if len(array) else "fill(0.0, 0)"
        for array in arrays
    )
    call = f"result = {name}({t!r}, {given});"
    model = f"model Use\n  Real result[{size}];\n  Real clock(start = 0.0);\nequation\n  der(clock) = 1.0;\n  {call}\nend Use;\n"
    found = rumoca.Session().loads(f"{text}\n{model}", model="Use").simulate((0.0, 1e-6))
    return np.array([float(found[f"result[{k + 1}]"][0]) for k in range(size)])
