"""A host for one co-simulation instance through fmpy, with the same interface for FMI 2.0 and 3.0;
used by verification, tests and examples.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from kinetree.scripts.terminal.foreign_archives import unpacked

REALS = ("Real", "Float64")
MOST_STEPS = 500  # of a run whose archive names no step
FAILED = re.compile(
    r"failed with status|[Ff]ailed to instantiate|could not be instantiated"
)  # what fmpy says of calls
WARNING = 1  # the last status that is no failure


class Archive:
    """An unzipped FMU; a context manager that removes its folder."""

    def __init__(self, path: str | Path):
        from fmpy import read_model_description

        self.path = Path(path)
        self.folder = tempfile.mkdtemp(prefix="kinetree-fmu-")
        try:
            unpacked(self.path, Path(self.folder), "an FMU")
            self.description = read_model_description(self.folder)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.compiled = self._compile()
        self.version = int(str(self.description.fmiVersion)[0])
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.reals = [
            v.name
            for v in self.description.modelVariables
            if v.type in REALS and v.causality in ("output", "local")
        ]

    def _compile(self) -> bool:
        """Compile the binary of a source archive; compiler warnings are errors."""
        from kinetree.fmu.native.binaries import place_of
        from kinetree.fmu.source.archive import compile_sources
        from kinetree.solvers.library.platforms import this_platform

        folder, own = Path(self.folder), this_platform()
        if (folder / "binaries").exists() or not (folder / "sources").exists() or own is None:
            return False
        part: Any = self.description.coSimulation or self.description.modelExchange
        compile_sources(
            folder,
            folder / place_of(own, part.modelIdentifier, int(str(self.description.fmiVersion)[0])),
        )
        return True

    @property
    def step(self) -> float:
        """Return the communication step of the archive; archives with model exchange do not declare
        a step size, which hosts would use for Euler steps.
        """
        experiment: Any = self.description.defaultExperiment
        told = experiment.stepSize or packed_with(self).get("output_step")
        return float(told) if told else float(experiment.stopTime) / MOST_STEPS

    @property
    def needs_python(self) -> bool:
        """Return whether the binary is a loader that needs a Python interpreter."""
        return (Path(self.folder) / "resources" / "slavemodule.txt").exists()

    def unpack(self, folder: Path) -> None:
        """Unpack the archive again in another folder and use that copy from now on."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = str(folder)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *reason: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def names(self, causality: str) -> list[str]:
        """Return the names of the real variables of one causality."""
        return [
            v.name
            for v in self.description.modelVariables
            if v.causality == causality and v.type in REALS
        ]


def packed_with(archive: Archive) -> dict[str, Any]:
    """Return the packing options of an archive."""
    file = Path(archive.folder) / "resources" / "options.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


class Reals:
    """Real variables of an instance that are read together repeatedly: one call of the FMI
    function, without copies.
    """

    def __init__(self, host: Host, references: Sequence[int]):
        import ctypes

        name = "GetReal" if host.archive.version == 2 else "GetFloat64"
        self.name, self.component = f"fmi{host.archive.version}{name}", host.fmu.component
        self.call = getattr(host.fmu.dll, self.name)
        self.references = (ctypes.c_uint * len(references))(*references)
        self.values = (ctypes.c_double * len(references))()
        self.count = (
            (len(references), self.values)
            if host.archive.version == 2
            else (len(references), self.values, len(references))
        )

    def read(self) -> Any:
        """Return the values; the next reading overwrites them."""
        status = self.call(self.component, self.references, *self.count)
        if status > WARNING:
            from fmpy.fmi1 import FMICallException

            raise FMICallException(function=self.name, status=status)
        return self.values


@contextmanager
def reasons() -> Iterator[None]:
    """Context manager that adds the FMU's own messages to errors."""
    Host.latest = ""
    try:
        yield
    except Exception as error:
        text = str(error)
        if type(error).__module__.partition(".")[0] not in ("fmpy", "builtins"):
            raise
        if not Host.latest or Host.latest in text or not FAILED.search(text):
            raise
        raise RuntimeError(f"{text.rstrip('.')}: {Host.latest}") from error


class Host:
    """An FMU instance from its instantiation until it is freed."""

    latest: ClassVar[str] = ""  # message of any instance

    def __init__(
        self,
        archive: Archive,
        messages: list[str] | None = None,
        kind: str = "CoSimulation",
        **options: Any,
    ):
        from fmpy.simulation import instantiate_fmu

        self.archive, self.messages, self.time = archive, [] if messages is None else messages, 0.0
        logger = self._log_2 if archive.version == 2 else self._log_3
        self.fmu: Any = instantiate_fmu(
            archive.folder, archive.description, kind, debug_logging=True, logger=logger, **options
        )

    def _log_2(self, environment, instance, status, category, message) -> None:
        self.heard(message)

    def _log_3(self, environment, status, category, message) -> None:
        self.heard(message)

    def heard(self, message: bytes | None) -> None:
        """Store a log message of the FMU."""
        text = message.decode("utf-8", "replace") if message else ""
        self.messages.append(text)
        Host.latest = text or Host.latest

    def start(
        self,
        values: Mapping[str, float] | None = None,
        start_time: float = 0.0,
        tolerance: float | None = None,
    ) -> Host:
        """Set start values and initialize."""
        self.time = start_time
        if self.archive.version == 2:
            self.fmu.setupExperiment(startTime=start_time, tolerance=tolerance)
            self.set(values or {})
            self.fmu.enterInitializationMode()
        else:
            self.set(values or {})
            self.fmu.enterInitializationMode(startTime=start_time, tolerance=tolerance)
        self.fmu.exitInitializationMode()
        return self

    def set(self, values: Mapping[str, float]) -> None:
        """Set real variables by name."""
        if values:
            call = self.fmu.setReal if self.archive.version == 2 else self.fmu.setFloat64
            call([self.archive.references[name] for name in values], list(values.values()))

    def get(self, names: Iterable[str]) -> list[float]:
        """Return the real variables by name."""
        return self.get_references([self.archive.references[name] for name in names])

    def get_references(self, references: Sequence[int]) -> list[float]:
        return list(
            self.fmu.getReal(references)
            if self.archive.version == 2
            else self.fmu.getFloat64(references)
        )

    def integers(self, names: Iterable[str]) -> list[int]:
        """Return the integer variables by name."""
        references = [self.archive.references[name] for name in names]
        return list(
            self.fmu.getInteger(references)
            if self.archive.version == 2
            else self.fmu.getInt32(references)
        )

    def text(self, name: str) -> str:
        """Return a string variable by name."""
        value = self.fmu.getString([self.archive.references[name]])[0]
        return value.decode() if isinstance(value, bytes) else value

    def step(self, target: float) -> None:
        """Advance to the time `target`."""
        self.fmu.doStep(
            currentCommunicationPoint=self.time, communicationStepSize=target - self.time
        )
        self.time = target

    def save(self) -> tuple[float, Any]:
        """Return the whole FMU state and its time."""
        return (
            self.time,
            self.fmu.getFMUstate() if self.archive.version == 2 else self.fmu.getFMUState(),
        )

    def restore(self, state: tuple[float, Any]) -> None:
        self.time = state[0]
        (self.fmu.setFMUstate if self.archive.version == 2 else self.fmu.setFMUState)(state[1])

    def forget(self, state: tuple[float, Any]) -> None:
        (self.fmu.freeFMUstate if self.archive.version == 2 else self.fmu.freeFMUState)(state[1])

    def serialized(self, state: tuple[float, Any]) -> bytes:
        """Return an FMU state as bytes, which another process can read."""
        return (
            self.fmu.serializeFMUstate(state[1])
            if self.archive.version == 2
            else self.fmu.serializeFMUState(state[1])
        )

    def parsed(self, data: bytes, time: float) -> tuple[float, Any]:
        """Return an FMU state from bytes, with its time."""
        return time, self.fmu.deSerializeFMUstate(
            data
        ) if self.archive.version == 2 else self.fmu.deserializeFMUState(data)

    def close(self) -> None:
        """Terminate and free the instance."""
        try:
            self.fmu.terminate()
        finally:
            self.fmu.freeInstance()
