"""The plant of a scenario: its native FMU, with functions and value references looked up before the
run.
"""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.hil.scenario import Scenario
from kinetree.scripts.measures.run_parts import RunParts, speak_of_parts
from kinetree.scripts.terminal.error_messages import BadInput


class Plant:
    """Context manager of the plant's FMU; reading outputs and stepping allocate almost no memory."""

    def __init__(self, scenario: Scenario):
        self.scenario = scenario

    def __enter__(self) -> Plant:
        s = self.scenario
        self.folder = tempfile.TemporaryDirectory()
        path = s.fmu
        if path is None:
            from kinetree.fmu.archive.build import build_fmu
            from kinetree.models import load

            path = Path(self.folder.name) / "plant.fmu"
            build_fmu(load(s.described()), path, "native", "2", specialised=s.specialised)
        if not path.exists():
            raise BadInput(f"no such file: {path}")
        self.archive = Archive(path)
        if self.archive.version != 2:
            raise BadInput(f"{path}: FMI {self.archive.version}: expected an FMU of version 2")
        for name in self.names_of_plant([*s.measures, *s.commands, *s.values]):
            if name not in self.archive.references:
                from kinetree.models.language.errors import suggestion

                raise BadInput(
                    f"{s.path}: the FMU has no variable '{name}'; {suggestion(name, tuple(self.archive.references))}"
                )
        self.units = {
            each.name: each.unit
            for each in self.archive.description.modelVariables
            if each.unit and each.name in (*s.measures, *s.commands)
        }
        self.parts = stages_of(s, self.archive)
        self.stage_reference = (
            None if self.parts is None else array([self.archive.references["stage"]])
        )
        self.host = Host(self.archive)
        self.host.start(s.values)
        self.time, self.component = 0.0, self.host.fmu.component
        self.inward, self.outward = (
            array(self.archive.references[name] for name in self.names_of_plant(names))
            for names in (s.commands, s.measures)
        )
        self.given, self.seen = (
            (ctypes.c_double * len(names))() for names in (s.commands, s.measures)
        )
        fmu = self.host.fmu
        self._get, self._set, self._step = fmu.fmi2GetReal, fmu.fmi2SetReal, fmu.fmi2DoStep
        return self

    def measures(self) -> tuple[float, ...]:
        """Return the present values of the measured outputs."""
        self._get(self.component, self.outward, len(self.outward), self.seen)
        return tuple(self.seen)

    def names_of_plant(self, names: list[str]) -> list[str]:
        """Return those of the variables that belong to the plant's own FMU."""
        return names

    def first_commands(self) -> list[float]:
        """Return the start values of the commands."""
        return list(self.host.get(self.scenario.commands))

    def calls(self, loaded: Any) -> dict[str, Any]:
        """Return the FMU instance and its functions for the compiled loop."""
        names = (("set", "fmi2SetReal"), ("advance", "fmi2DoStep"), ("get", "fmi2GetReal"))
        dll = self.host.fmu.dll
        found = {name: ctypes.cast(getattr(dll, call), ctypes.c_void_p) for name, call in names}
        return {"component": self.component, **found}

    def stage_call(self, loaded: Any) -> Any:
        """Return the function that reads the number of the stage, for the compiled loop."""
        return ctypes.cast(self.host.fmu.dll.fmi2GetInteger, ctypes.c_void_p)

    def stage(self) -> int:
        """Return the number of the present stage."""
        number = (ctypes.c_int * 1)()
        self.host.fmu.fmi2GetInteger(self.component, self.stage_reference, 1, number)
        return int(number[0])

    def command(self, values: tuple[float, ...]) -> None:
        """Set the command inputs of the plant."""
        self.given[:] = values
        self._set(self.component, self.inward, len(self.inward), self.given)

    def advance(self, target: float) -> None:
        """Advance to the time `target`."""
        self._step(self.component, self.time, target - self.time, 1)
        self.time = target

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from fmpy.fmi1 import FMICallException

        said = self.host.messages[-1] if self.host.messages else ""
        try:
            self.host.fmu.terminate()
        except Exception:  # an FMU that has failed may refuse; what went wrong has been said
            pass
        finally:
            self.host.fmu.freeInstance()
            self.archive.__exit__()
            self.folder.cleanup()
        if isinstance(error, FMICallException) and said:
            raise ArithmeticError(f"{error}: {said}") from error


def stages_of(scenario: Scenario, archive: Archive) -> RunParts | None:
    """Return the stages and phases of the plant if the scenario's measures refer to them; None
    otherwise.
    """
    if not speak_of_parts(scenario.texts):
        return None
    folder = Path(archive.folder) / "resources"
    found = [folder / name for name in ("model.json", "model.toml") if (folder / name).exists()]
    if "stage" not in archive.references or not found:
        raise BadInput(
            f"{scenario.path}: report and limits speak of stages, which {archive.path.name} does not tell: leave them out"
        )
    from kinetree.models import load

    try:
        parts = RunParts.of(load(str(found[0])).compile())
        parts.expanded(scenario.texts)
    except BadInput as error:
        raise BadInput(f"{scenario.path}: {error}") from None
    return parts


def array(references) -> ctypes.Array:
    values = list(references)
    return (ctypes.c_uint32 * len(values))(*values)
