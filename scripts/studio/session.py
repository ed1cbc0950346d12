"""The studio's state without pages: description text, parameter values, runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree.models import Mechanism, ModelError, Result, load
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.description.reading.read_source import Text
from kinetree.models.language.parts.value_parts import Parameter
from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.studio.texts import LIBRARY, NEW, is_json, settled, with_values
from kinetree.scripts.studio.values import as_csv, read_values

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium

KEPT = 6  # runs that can be compared
SAME = 1e-11  # of a value: a file has no more digits


@dataclass
class Finished:
    """A finished run with its settings."""

    number: int
    result: Result
    changed: dict[str, float]
    page: str = ""

    @property
    def label(self) -> str:
        """Return the run's number and changed settings."""
        return f"run {self.number}" + "".join(
            f", {name} = {value:g}" for name, value in self.changed.items()
        )


@dataclass
class Session:
    """The session of one description."""

    source: str
    text: str = ""
    mechanism: Mechanism | None = None
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    overrides: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, float] = field(default_factory=dict)
    runs: list[Finished] = field(default_factory=list)
    part: float = 0.0  # of the run under way
    running: bool = False
    stopping: bool = False
    settings: dict[str, float] = field(default_factory=dict)  # that it is opened with
    _undone: list[dict[str, float]] = field(default_factory=list)
    _before: list[dict[str, float]] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self.open(self.source, self.settings)

    # -- description ------------------------------------------------------------------------------------------------------------------------
    def open(self, source: str, settings: Mapping[str, float] | None = None) -> None:
        """Read a file or a mechanism of the library, with settings: parameters, and what decides
        the structure of a library mechanism.
        """
        text, values = settled(source, settings or {})
        self.source, self.text = source, text
        self.overrides, self.inputs, self.runs = values, {}, []
        self._before, self._undone, self._count = [], [], 0
        self.check()

    @property
    def language(self) -> str:
        """Return the language of the text, TOML or JSON."""
        return "JSON" if is_json(self.text) else "TOML"

    @property
    def own(self) -> bool:
        """Return whether the text belongs to a writable file."""
        return not self.source.startswith((LIBRARY, NEW)) and Path(self.source).suffix.lower() in (
            ".toml",
            ".json",
        )

    def suggested_name(self) -> str:
        """Return a file for the text."""
        stem = Path(self.source.removeprefix(LIBRARY).removeprefix(NEW)).stem
        return f"{'my-' if self.source.startswith((LIBRARY, NEW)) else ''}{stem}.{self.language.lower()}"

    def check(self) -> list[str]:
        """Load the text with the present values; the problems, none when it is good."""
        try:
            self.mechanism = loaded = self._load()
            self.problems = []
            self.warnings = [str(warning) for warning in loaded.description.warnings]
        except ModelError as error:
            self.problems = str(error).splitlines()
        except (ValueError, KeyError) as error:
            self.problems = [str(error)]
        return self.problems

    def _load(self) -> Mechanism:
        """Load the text as a mechanism, with paths relative to its file."""
        suffix = f".{self.language.lower()}"
        name = (
            str(Path(self.source).with_suffix(suffix))
            if not self.source.startswith((LIBRARY, NEW))
            else self.source.partition(":")[2] + suffix
        )
        return load(Text(self.text, name), **self.overrides)

    def save(self, path: str | None = None) -> Path:
        """Write the text to its file, or to another one."""
        if path is None and not self.own:
            raise ValueError(f"{self.source} is not changed: give the name of a file")
        target = Path(path or self.source)
        if target.suffix.lower() != f".{self.language.lower()}":
            raise ValueError(
                f"{target.name}: the text is {self.language}, expected a name that ends in .{self.language.lower()}"
            )
        write_text(target, self.text)
        self.source = str(target)
        return target

    def settle(self) -> list[str]:
        """Write changed values into the text and drop their overrides."""
        self.text = with_values(self.text, self.overrides)
        self.overrides, self._before, self._undone = {}, [], []
        return self.check()

    # -- parameters -------------------------------------------------------------------------------------------------------------------------
    def parameters(self) -> dict[str, tuple[Parameter, float]]:
        """Return all parameters with present values."""
        if self.mechanism is None:
            return {}
        values = parameter_values(self.mechanism.description)
        return {
            name: (each, values[name])
            for name, each in self.mechanism.description.parameters.items()
        }

    def set(self, name: str, value: float | None) -> list[str]:
        """Set a parameter, or reset it with None; invalid values are refused."""
        before = dict(self.overrides)
        changed = {key: each for key, each in before.items() if key != name} | (
            {} if value is None else {name: float(value)}
        )
        if changed == before:
            return []
        problems = self._become(changed)
        if not problems:
            self._before.append(before)
            self._undone.clear()
        return problems

    def _become(self, overrides: dict[str, float]) -> list[str]:
        """Take over values if they can be."""
        before, self.overrides = self.overrides, overrides
        problems = list(self.check())
        if problems:
            self.overrides = before
            self.check()
        return problems

    def undo(self) -> bool:
        """Take the last change of a value back."""
        return self._step(self._before, self._undone)

    def redo(self) -> bool:
        """Return redo the last undone change."""
        return self._step(self._undone, self._before)

    def _step(self, source: list[dict[str, float]], target: list[dict[str, float]]) -> bool:
        if not source:
            return False
        target.append(dict(self.overrides))
        self._become(source.pop())
        return True

    def values_text(self) -> str:
        """Return the independent parameter values as a table."""
        own = {
            name: each
            for name, each in self.parameters().items()
            if name in self.overrides or not isinstance(each[0].value, str)
        }
        return as_csv(own)

    def take_values(self, text: str) -> list[str]:
        """Set values from rows or JSON."""
        known = self.parameters()
        try:
            given = read_values(text, known)
        except ValueError as error:
            return [str(error)]
        before = dict(self.overrides)
        changed = {
            name: value
            for name, value in given.items()
            if abs(value - known[name][1]) > SAME * abs(value)
        }
        problems = self._become(before | changed)
        if not problems and changed:
            self._before.append(before)
            self._undone.clear()
        return problems

    # -- work -------------------------------------------------------------------------------------------------------------------------------
    def run(self, stop_time: float | None, integrator: str = "auto") -> Finished:
        """Simulate and store the run; `stop` ends it early."""
        mechanism = self.ready()
        self.part, self.running, self.stopping = 0.0, True, False
        try:
            if mechanism.description.chain is not None:
                result: Result = mechanism.chain().simulate(stop_time, inputs=self.inputs or None)
            else:
                system = mechanism.compile()
                result = system.simulate(
                    stop_time,
                    integrator=integrator,
                    inputs=dict(self.inputs) or None,
                    progress=self._told(stop_time),
                )
        except ArithmeticError as error:
            kept = getattr(error, "result", None)
            if kept is None or len(kept) < 2:
                raise
            result = kept
        finally:
            self.running = False
        self._count += 1
        finished = Finished(self._count, result, dict(self.overrides))
        self.runs = [*self.runs, finished][-KEPT:]
        return finished

    def _told(self, stop_time: float | None) -> Callable[[float], None]:
        """Store the progress and stop on request."""
        mechanism = self.ready()
        from kinetree.scripts.commands.run import end_of

        end = end_of(mechanism, stop_time) or 10.0  # type: ignore[arg-type]

        def told(t: float) -> None:
            self.part = min(t / end, 1.0) if end > 0.0 else 0.0
            if self.stopping:
                raise KeyboardInterrupt("stopped")

        return told

    def stop(self) -> None:
        """Stop the present run."""
        self.stopping = True

    def ready(self) -> Mechanism:
        if self.mechanism is None or self.problems:
            raise ValueError(
                "the description has to be mended first: " + "; ".join(self.problems[:2])
            )
        return self.mechanism

    def start_page(self) -> str:
        """Return the mechanism at its start, in three dimensions."""
        from kinetree.models.scene.make_scenes import Animation, start_scene

        mechanism = self.ready()
        if mechanism.description.chain is not None:
            return self.run_page(Finished(0, mechanism.chain().simulate(), {}))
        return Animation(start_scene(mechanism.compile()).data()).html()

    def run_page(self, finished: Finished) -> str:
        """Return a run, in three dimensions with its plots."""
        if not finished.page:
            finished.page = finished.result.animate().html()
        return finished.page

    def live_page(self, stop_time: float | None, say: Callable[[str], None]) -> str:
        """Return a page that computes the motion while it is shown, from the values of now."""
        from kinetree.fmu.live import live_data
        from kinetree.models.scene.html_page import page

        return page(live_data(self.ready(), stop_time, say))

    def statics(self) -> tuple[Equilibrium, str]:
        """Compute the equilibrium and its page."""
        from kinetree.models.scene.make_scenes import Animation, rest_data

        system = self.ready().compile()
        rest = system.equilibrium(inputs=dict(self.inputs) or None)
        return rest, Animation(rest_data(system, [rest], ["at rest"])).html()

    def pack(self, backend: str, fmi: str) -> tuple[str, bytes]:
        """Return an FMU: its file's name and its content."""
        from kinetree.fmu.archive.build import build_fmu, identifier_of

        mechanism = self.ready()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{identifier_of(mechanism.description.name)}.fmu"
            build_fmu(mechanism, path, backend, fmi)
            return path.name, path.read_bytes()
