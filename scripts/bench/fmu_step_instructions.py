"""Steps a native FMU so that its instructions can be counted: a bare Python loads its library and
does steps, nothing else.
"""

import re
import zipfile
from pathlib import Path

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.solvers.library.platforms import this_platform

HOST = """
import ctypes, sys
library, guid, resources, steps, step = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
class Callbacks(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("logger", "allocate", "free", "finished", "environment")]
libc, fmu = ctypes.CDLL(None), ctypes.CDLL(library)
log = ctypes.CFUNCTYPE(None)(lambda: None)
address = lambda function: ctypes.cast(function, ctypes.c_void_p)
callbacks = Callbacks(address(log), address(libc.calloc), address(libc.free), None, None)
fmu.fmi2Instantiate.restype = ctypes.c_void_p
fmu.fmi2Instantiate.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
unit = ctypes.c_void_p(fmu.fmi2Instantiate(b"counted", 1, guid.encode(), resources.encode(), ctypes.byref(callbacks), 0, 0))
number = ctypes.c_double
status = 0 if unit.value else 3
status = status or fmu.fmi2SetupExperiment(unit, 0, number(0.0), number(0.0), 0, number(0.0))
status = status or fmu.fmi2EnterInitializationMode(unit) or fmu.fmi2ExitInitializationMode(unit)
for k in range(steps):
    status = status or fmu.fmi2DoStep(unit, number(k * step), number(step), 1)
sys.exit(status)
"""


def unpacked(model: str, integrator: str, step: float, folder: Path) -> tuple[Path, list[str]]:
    """Build and unpack a native FMU; return its library and the host's arguments without the number
    of steps and the step.
    """
    path, here = (
        build_fmu(load(model), folder / "counted.fmu", "native", 2, integrator, step),
        this_platform(),
    )
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "unpacked")
    place = folder / "unpacked"
    guid = re.search(
        r'guid="([^"]+)"', (place / "modelDescription.xml").read_text(encoding="utf-8")
    )
    assert guid is not None and here is not None
    library = next((place / "binaries" / here.name).glob(f"*{here.extension}"))
    return library, [guid[1], (place / "resources").as_uri()]
