"""An observer as an FMU: pythonfmu calls the estimator of the host's Python installation, which
must contain Kinetree.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

from kinetree.fmu.variables import FmuError
from kinetree.models.compilation.element_states import held_inputs

SLAVE = '''"""Observer: readings and inputs in, estimates and their standard deviations out."""

from pathlib import Path

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

from kinetree.fmu.slave.observer_unit import opened


class {name}(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.unit = opened(Path(str(self.resources)))
        self.values, self.given = {{}}, set()
        for name, kind in self.unit.variables():
            self.values[name] = self.unit.first(name)
            self.register_variable(
                Real(
                    name,
                    causality=getattr(Fmi2Causality, kind),
                    variability=Fmi2Variability.continuous,
                    start=self.values[name] if kind == "input" else None,
                    getter=lambda name=name: self.values[name],
                    setter=lambda value, name=name: self.take(name, value),
                )
            )

    def take(self, name, value):
        self.values[name] = value
        self.given.add(name)

    def setup_experiment(self, start_time=0.0, stop_time=None, tolerance=None):
        self.unit.begin(start_time)

    def do_step(self, current_time, step_size):
        self.values.update(self.unit.advance(current_time + step_size, self.values, self.given))
        return True
'''


def pack_observer(text: str, path: Path) -> Path:
    """Write the FMU of an observer; `text` contains mechanism and setup
    (models/observers/packed_observer.py).
    """
    from pythonfmu.builder import FmuBuilder

    name = f"Observer{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    before = list(sys.path)
    with tempfile.TemporaryDirectory(prefix="kinetree-observer-") as scratch:
        folder = Path(scratch)
        (folder / f"{name}.py").write_text(SLAVE.format(name=name), encoding="utf-8")
        (folder / "observer.json").write_text(text, encoding="utf-8")
        try:
            made = FmuBuilder.build_FMU(
                folder / f"{name}.py",
                dest=folder / "made",
                project_files=[folder / "observer.json"],
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(Path(made).read_bytes())
        except OSError as error:
            raise FmuError(f"{path} cannot be written: {error.strerror or error}") from error
        finally:
            sys.path[:] = before
            sys.modules.pop(name, None)
    return path


def opened(resources: Path) -> ObserverUnit:
    """Return the observer whose mechanism and setup are in a folder."""
    return ObserverUnit((resources / "observer.json").read_text(encoding="utf-8"))


class ObserverUnit:
    """The variables and the stepping of an observer in an FMU."""

    def __init__(self, text: str):
        from kinetree.models.observers.online_observer import OnlineObserver
        from kinetree.models.observers.packed_observer import problem_of

        self.problem = problem_of(text)
        self.make = OnlineObserver
        self.sensors = [each.name for each in self.problem.setup.sensors]
        unknown = {each.name for each in self.problem.setup.forces}
        hidden = {*unknown, *held_inputs(self.problem.system.description)}
        self.inputs = [n for n in self.problem.system.compiled.inputs if n not in hidden]
        self.observer = OnlineObserver(self.problem)

    def variables(self) -> list[tuple[str, str]]:
        """Return names and causalities: sensor readings and inputs, then estimates and standard
        deviations.
        """
        found = [(f"measured.{name}", "input") for name in self.sensors]
        found += [(name, "input") for name in self.inputs]
        for name in self.observer.names:
            found += [(f"estimate.{name}", "output"), (f"std.{name}", "output")]
        return found

    def first(self, name: str) -> float:
        """Return the start value of a variable, before the first step."""
        return self.results().get(name, 0.0)

    def begin(self, time: float) -> None:
        """Start the observer at a time."""
        self.observer = self.make(self.problem, time)

    def advance(self, until: float, values: dict[str, float], given: set[str]) -> dict[str, float]:
        """Process the sensor readings that the host has set so far, advance to a time, and return
        the outputs.
        """
        readings = {
            name: values[f"measured.{name}"] for name in self.sensors if f"measured.{name}" in given
        }
        inputs = {name: values[name] for name in self.inputs}
        self.observer.advance(until, readings, inputs)
        return self.results()

    def results(self) -> dict[str, float]:
        """Return estimates and standard deviations by FMU variable name."""
        found = {f"estimate.{name}": value for name, value in self.observer.values().items()}
        return found | {f"std.{name}": value for name, value in self.observer.deviations().items()}
