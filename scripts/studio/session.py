"""The studio's state without pages: description text, parameter values, runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.models import Mechanism, ModelError, Result, load
from kinetree.models.checks.loader import settings_of
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.description.reading.read_source import Text
from kinetree.models.language.parts.value_parts import Parameter
from kinetree.models.library.argument_checks import Argument
from kinetree.models.result.atomic_file import write_text
from kinetree.scripts.studio.texts import (
    LIBRARY,
    NEW,
    is_json,
    text_of,
    with_shown_name,
    with_values,
)
from kinetree.scripts.studio.values import as_csv, as_number, read_values
from kinetree.scripts.terminal.value_rows import value_rows

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium

KEPT = 6  # runs that can be compared
AT_START = "equilibrium"  # the one that is found from the start
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


@dataclass(frozen=True)
class Values:
    """Changed parameters and settings, and the text where it changes with them."""

    overrides: dict[str, float]
    settings: dict[str, float]
    text: str | None = None
    generated: str | None = None  # the text as its generator wrote it


def with_value(values: Mapping[str, float], name: str, value: float | None) -> dict[str, float]:
    """Return values with one of them replaced, or left out where it is None."""
    others = {key: each for key, each in values.items() if key != name}
    return others if value is None else others | {name: value}


def plain_number(value: float | None) -> Any:
    """Return a number as a whole one if it is one: what generators count is written so."""
    return int(value) if value is not None and value == int(value) else value


def message_lines(error: Exception) -> list[str]:
    """Return the lines of an error, a line per problem of a description."""
    return str(error).splitlines() if isinstance(error, ModelError) else [str(error)]


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
    settings: dict[str, float] = field(default_factory=dict)  # of what generates the description
    arguments: dict[str, Argument] = field(default_factory=dict)  # what `settings` may hold
    _generated: str = ""  # the text as its generator wrote it
    _undone: list[Values] = field(default_factory=list)
    _before: list[Values] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self.open(self.source, self.settings)

    # -- description ------------------------------------------------------------------------------------------------------------------------
    def open(self, source: str, settings: Mapping[str, float] | None = None) -> None:
        """Read a file or a mechanism of the library, with values of its settings and parameters."""
        path = Path(source)
        known = settings_of(source) if source.startswith(LIBRARY) or path.is_file() else {}
        given = dict(settings or {})
        own = {name: value for name, value in given.items() if name in known}
        text = text_of(source, own)
        self.source, self.text, self._generated = source, text, text
        self.arguments, self.settings = known, own
        self.overrides = {name: value for name, value in given.items() if name not in known}
        self.inputs, self.runs = {}, []
        self._before, self._undone, self._count = [], [], 0
        self.mechanism = None
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
            for each in self.runs:
                each.result.shown_names = dict(loaded.description.report.names)
        except (ModelError, ValueError, KeyError) as error:
            self.problems = message_lines(error)
        return self.problems

    def _load(self) -> Mechanism:
        """Load the text as a mechanism, with paths relative to its file."""
        return load(Text(self.text, self._file_name()), **self.overrides)

    def _file_name(self) -> str:
        """Return the file that the text stands for in messages and paths."""
        suffix = f".{self.language.lower()}"
        if self.source.startswith((LIBRARY, NEW)):
            return self.source.partition(":")[2] + suffix
        return str(Path(self.source).with_suffix(suffix))

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
        self.source, self.arguments, self.settings = str(target), {}, {}
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
        """Set a parameter or a setting, or reset it with None; invalid values are refused."""
        if name in self.arguments:
            value = None if value == self.arguments[name].default else plain_number(value)
            return self._regenerate(with_value(self.settings, name, value))
        return self._change(Values(with_value(self.overrides, name, value), self.settings))

    @property
    def edited(self) -> bool:
        """Return whether the text is no longer the one that its generator wrote."""
        return self.text != self._generated

    def _regenerate(self, settings: dict[str, float]) -> list[str]:
        """Generate the description anew with other settings; refused where the text was edited."""
        if settings == self.settings:
            return []
        if self.edited:
            changed = sorted(
                name
                for name in settings.keys() | self.settings.keys()
                if settings.get(name) != self.settings.get(name)
            )
            return [
                f"{', '.join(changed)}: the description was edited, and generating it anew would "
                "lose that: save it to a file to go on with it, or discard the edits"
            ]
        return self._generate(settings)

    def _generate(self, settings: dict[str, float]) -> list[str]:
        """Take over the description that its generator writes with such settings."""
        try:
            text = text_of(self.source, settings)
            known = load(Text(text, self._file_name())).description if self.overrides else None
        except (ModelError, ValueError, KeyError, TypeError) as error:
            return message_lines(error)
        kept = {
            name: value
            for name, value in self.overrides.items()
            if known is not None and name in known.parameters
        }
        return self._change(Values(kept, settings, text, text))

    def discard_edits(self) -> list[str]:
        """Take back what was edited in a text that is generated."""
        return self._generate(self.settings)

    def _state(self, text: bool) -> Values:
        """Return what undo brings back: values, and the text where it changes with them."""
        texts = (self.text, self._generated) if text else (None, None)
        return Values(dict(self.overrides), dict(self.settings), *texts)

    def _change(self, changed: Values) -> list[str]:
        """Take over values if they can be, as a change that can be undone."""
        before = self._state(changed.text is not None)
        if changed == before:
            return []
        problems = self._become(changed)
        if not problems:
            self._before.append(before)
            self._undone.clear()
        return problems

    def _become(self, changed: Values) -> list[str]:
        """Take over values if they can be."""
        before = self._state(changed.text is not None)
        self._take(changed)
        problems = list(self.check())
        if problems:
            self._take(before)
            self.check()
        return problems

    def _take(self, values: Values) -> None:
        self.overrides, self.settings = dict(values.overrides), dict(values.settings)
        if values.text is not None:
            self.text, self._generated = values.text, values.generated or ""

    def rewrite(self, text: str) -> list[str]:
        """Take over another text of the description, if it can be, as a change that can be undone."""
        return self._change(Values(self.overrides, self.settings, text, self._generated))

    def undo(self) -> bool:
        """Take the last change of a value back."""
        return self._step(self._before, self._undone)

    def redo(self) -> bool:
        """Repeat the change that was taken back last."""
        return self._step(self._undone, self._before)

    def _step(self, source: list[Values], target: list[Values]) -> bool:
        if not source:
            return False
        wanted = source.pop()
        target.append(self._state(wanted.text is not None))
        if wanted.text is None:
            self._become(wanted)
            return True
        self._take(wanted)  # as it was, also where it was nothing yet
        if self.check():
            self.mechanism = None
        return True

    def present_settings(self) -> dict[str, tuple[Argument, float]]:
        """Return all settings of what generates the description, with present values."""
        return {
            name: (each, self.settings.get(name, each.default or 0.0))
            for name, each in self.arguments.items()
        }

    def values_text(self) -> str:
        """Return the settings and the independent parameter values as a table."""
        own = {
            name: each
            for name, each in self.parameters().items()
            if name in self.overrides or not isinstance(each[0].value, str)
        }
        return as_csv(own, self.present_settings())

    def take_values(self, text: str) -> list[str]:
        """Set settings and parameters from rows or JSON."""
        try:
            rows = value_rows(text)
            given = {
                name: as_number(name, value) for name, value, _ in rows if name in self.arguments
            }
            settings = {
                name: plain_number(value)
                for name, value in (self.settings | given).items()
                if value != self.arguments[name].default
            }
            problems = self._regenerate(settings)
            if problems:
                return problems
            known = self.parameters()
            values = read_values((row for row in rows if row[0] not in self.arguments), known)
        except ValueError as error:
            return [str(error)]
        changed = {
            name: value
            for name, value in values.items()
            if abs(value - known[name][1]) > SAME * abs(value)
        }
        return self._change(Values(self.overrides | changed, self.settings))

    def rename(self, name: str, shown: str) -> list[str]:
        """Give a variable the name that plots and tables show; an empty one takes it back."""
        shown = shown.strip()
        try:
            return self.rewrite(with_shown_name(self.text, name, "" if shown == name else shown))
        except ValueError as error:
            return [str(error)]

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
        finished = Finished(self._count, result, {**self.settings, **self.overrides})
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

    def equilibria(self) -> dict[str, Equilibrium]:
        """Compute the equilibria by name: those of the preparation, and the one from the start."""
        system = self.ready().compile()
        return {
            **system.preparations,
            AT_START: system.equilibrium(inputs=dict(self.inputs) or None),
        }

    def equilibrium_page(self, rests: Mapping[str, Equilibrium], name: str) -> str:
        """Return a page of equilibria with the vibration modes of one of them."""
        from kinetree.models.scene.make_scenes import Animation, rest_data

        names = list(rests)
        system = rests[AT_START].system  # the mechanism may be another one by now
        data = rest_data(system, list(rests.values()), names, moving=names.index(name))
        return Animation(data).html()

    def pack(self, backend: str, fmi: str) -> tuple[str, bytes]:
        """Return an FMU: its file's name and its content."""
        from kinetree.fmu.archive.build import build_fmu, identifier_of

        mechanism = self.ready()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{identifier_of(mechanism.description.name)}.fmu"
            build_fmu(mechanism, path, backend, fmi)
            return path.name, path.read_bytes()
