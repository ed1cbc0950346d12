"""Packs an archive of pythonfmu (FMI 2.0) or pythonfmu3 (3.0): the slave script, its payload and the engine library, by the package's own builder."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from kinetree.fmu.native.binaries import Binaries
from kinetree.fmu.slave.loader import WITH_PYTHONFMU, with_loaders
from kinetree.fmu.variables import FmuError
from kinetree.solvers import unit_layout as U
from kinetree.solvers.cache import SOURCES, sources_hash
from kinetree.solvers.fields import REGISTERS
from kinetree.solvers.layout import Status
from kinetree.solvers.model_records import HEADER

HERE = Path(__file__).parent
SCRIPTS = {
    2: ("reader.py", "core.py", "fmi2.py"),
    3: ("reader.py", "core.py", "exchange.py", "fmi3.py"),
}
FALLBACK = HERE / "fallback.py"
KERNELS = "kinetree.solvers"
# pythonfmu's wrapper runs the text of the slave's module again for every instance, keeps what that makes, and gives back a reference to the module's
# names that it does not own: classes piled up, and the names could be freed before the end of the host
NAMED = {
    2: '''"""The slave's class by the name under which pythonfmu looks for it; this text is run again for every instance and makes nothing new."""
import ctypes

from {code} import KinetreeSlave  # noqa: F401

ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))  # the wrapper gives one reference too many back
''',
    3: '''"""The slave's class in the words by which pythonfmu3 looks for it: a class of Fmi3SlaveBase on one line of this text."""
from pythonfmu3 import Fmi3SlaveBase

from {code} import Slave


class KinetreeSlave(Slave, Fmi3SlaveBase):
    pass
''',
}
TEXTS = {
    Status.SINGULAR_JOINT: "body '{BODY}' has no inertia along a freedom of its joint",
    Status.NOT_A_NUMBER: "{WHAT_IS_NO_NUMBER}",
    Status.STEP_TOO_SMALL: "the step fell below the resolution of time: the motion is singular or a force jumps",
    Status.NO_CONVERGENCE: "an iteration did not converge",
    Status.TOO_MANY_STEPS: "{USED:.0f} steps of the integrator do not reach its end: steps are {LAST_STEP:.1e} s, the fastest motion has a "
    "rate of about {FASTEST:.1e} 1/s. Try smaller communication steps, or an FMU with integrator radau where stiff forces make it fast",
    Status.SINGULAR_BODY: "body '{BODY}' has no invertible mass matrix",
    Status.INCONSISTENT: "the loop constraints cannot be satisfied (row {ITEM:.0f})",
    Status.CHATTERING: "events accumulate (condition {ITEM:.0f})",
    Status.BLOCK_FAILED: "a predictive controller finds no finite plan: the predicted motion diverges",
    Status.ESTIMATE_FAILED: "an observer finds no finite estimate: the motion of its model diverges, or its loops do not close",
    Status.SLIDING: "the rate of {NAME} jumps back and forth: a law switches there (sign, if, <); use a friction element or a hysteresis",
    Status.CANNOT_SET: "an event cannot set {NAME}, which the constraints and what else is set determine",
    Status.DEAD_POINT: "a loop stands at a dead point, where it can begin to move and cannot go on (row {ITEM:.0f})",
    Status.STAGE_NEVER_ENDS: "stage '{NAME_OF_STAGE}' never ends",
    Status.CANCELLED: "cancelled",
}
HEAD = 'IDENTIFIER, KERNELS, V, STATUS, PLACES, LOCATED, STOP_AT_EVENT = "", "", {}, {}, {}, 0, 0'
OWN_IMPORT = re.compile(r"^from kinetree\.[^(\n]*(\([^)]*\)[^\n]*)?\n", re.M)


def script_text(identifier: str, version: int) -> tuple[str, str, str]:
    """Return name and text of the slave script and the package name of its kernels.

    Two archives in one process must not share a module name: Python would run the code of the first
    one for both.
    """
    package = f"kinetree_kernels_{sources_hash()}"
    places = {name.upper(): place for name, (place, _) in U.UNIT_HEAD.places.items()}
    source = "\n\n".join(
        OWN_IMPORT.sub("", (HERE / name).read_text(encoding="utf-8")) for name in SCRIPTS[version]
    )
    if HEAD not in source:
        raise FmuError(
            f"{HERE / SCRIPTS[version][0]} has no line for the names that the builder writes"
        )
    ints = {
        "STAGES_AT": U.UNIT.size,
        "STAGE": U.STAGE.size,
        "INTS": U.STAGE.at("ints"),
        "OWN": HEADER.at("own"),
        "COLUMNS": U.STAGE.at("columns"),
        "BODIES": U.STAGE.at("bodies"),
        "BASE": U.UNIT.at("at_workspace"),
        "COUNT": U.UNIT.at("columns"),
        "HEAD": REGISTERS,
        "LOCATOR": U.LOCATOR.size,
        "GUARD_STATE": U.GUARD_STATE.size,
        "ARMED": U.GUARD_STATE.at("armed"),
        "MARK": U.GUARD_STATE.at("mark"),
        **{
            f"AT_{part}".upper(): U.UNIT.at(f"at_{part}")
            for part in ("columns", "states", "rates", "guards", "locator")
        },
    }
    messages = {int(k): v for k, v in TEXTS.items()}
    written = (identifier, package, places, messages, ints, int(Status.EVENT), U.STOP_AT_EVENT)
    text = source.replace(HEAD, f"{HEAD.partition('=')[0]}= {', '.join(map(repr, written))}")
    return f"kinetree_slave_{hashlib.sha256(text.encode()).hexdigest()[:12]}", text, package


def write_kernels(folder: Path, package: str) -> Path:
    """Write the kernels as a package with its own name, for platforms without an engine library."""
    home = folder / package
    for source in sorted(SOURCES.rglob("*.py")):
        target = home / source.relative_to(SOURCES)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            source.read_text(encoding="utf-8").replace(KERNELS, package), encoding="utf-8"
        )
    (home / "fallback.py").write_bytes(FALLBACK.read_bytes())
    return home


def python_entries(
    identifier: str, files: dict[str, bytes], carried: Binaries, version: int
) -> dict[str, bytes]:
    """Return the archive entries of the Python back end."""
    if version == 3 and not any(target.name in WITH_PYTHONFMU for target in carried):
        raise FmuError(
            f"an archive of pythonfmu3 needs a binary for {' or '.join(WITH_PYTHONFMU)}: it has a library for these only; take --backend native"
        )
    module, text, package = script_text(identifier, version)
    before = list(sys.path)
    with tempfile.TemporaryDirectory(prefix="kinetree-fmu-") as scratch:
        folder = Path(scratch)
        script, code = folder / f"{module}.py", folder / f"{module}_code.py"
        script.write_text(NAMED[version].format(code=code.stem), encoding="utf-8")
        code.write_text(text, encoding="utf-8")
        project = [write_kernels(folder, package), code]
        for name, content in files.items():
            (folder / name).write_bytes(content)
            project.append(folder / name)
        for target, binary in carried.items():
            place = folder / target.name
            place.mkdir()
            shutil.copyfile(binary, place / f"engine{target.extension}")
            project.append(place)
        try:
            packed = built(version, script, folder, project)
        finally:
            sys.path[:] = before
            for name in (module, code.stem):
                sys.modules.pop(name, None)
        with zipfile.ZipFile(packed) as archive:
            return with_loaders(
                {name: archive.read(name) for name in archive.namelist()}, carried, version
            )


def built(version: int, script: Path, folder: Path, project: list[Path]) -> Path:
    """Return the archive as the builder of pythonfmu or of pythonfmu3 writes it."""
    if version == 2:
        from pythonfmu.builder import FmuBuilder

        return FmuBuilder.build_FMU(
            script, dest=folder / "packed.fmu", project_files=project, needsExecutionTool="false"
        )
    from pythonfmu3.builder import FmuBuilder

    return FmuBuilder.build_FMU(script, dest=folder / "packed", project_files=project)
