"""What the studio works on: a description as text, values of parameters, runs. It knows nothing of pages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kinetree.models import Mechanism, ModelError, Result, load
from kinetree.models.compilation.compile import parameter_values
from kinetree.models.description.source import FOREIGN, library_entry
from kinetree.models.description.value_parts import Parameter
from kinetree.models.result.whole_file import write_text

KEPT = 6  # runs that can be compared
LIBRARY = "lib:"


@dataclass
class Finished:
    """A run: its result and what was set for it."""

    number: int
    result: Result
    changed: dict[str, float]
    page: str = ""

    @property
    def label(self) -> str:
        """Its number, and what differs from the description."""
        return f"run {self.number}" + "".join(f", {name} = {value:g}" for name, value in self.changed.items())


@dataclass
class Session:
    """One description under work."""

    source: str
    text: str = ""
    mechanism: Mechanism | None = None
    problems: list[str] = field(default_factory=list)
    overrides: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, float] = field(default_factory=dict)
    runs: list[Finished] = field(default_factory=list)
    part: float = 0.0  # of the run under way
    running: bool = False
    stopping: bool = False
    _undone: list[dict[str, float]] = field(default_factory=list)
    _before: list[dict[str, float]] = field(default_factory=list)
    _count: int = 0

    def __post_init__(self) -> None:
        self.open(self.source)

    # -- description ------------------------------------------------------------------------------------------------------------------------
    def open(self, source: str) -> None:
        """Read a file or a mechanism of the library."""
        text = text_of(source)
        self.source, self.text = source, text
        self.overrides, self.inputs, self.runs = {}, {}, []
        self._before, self._undone, self._count = [], [], 0
        self.check()

    @property
    def language(self) -> str:
        """In which the text is written."""
        return "JSON" if self.text.lstrip().startswith("{") else "TOML"

    def check(self) -> list[str]:
        """Load the text with the present values; the problems, none when it is good."""
        try:
            self.mechanism = self._load()
            self.problems = []
        except ModelError as error:
            self.problems = str(error).splitlines()
        except (ValueError, KeyError) as error:
            self.problems = [str(error)]
        return self.problems

    def _load(self) -> Mechanism:
        """The text as a mechanism; paths of meshes count from the file it came from."""
        suffix = ".json" if self.language == "JSON" else ".toml"
        name = Path(self.source.removeprefix(LIBRARY)).stem + suffix
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(self.text, encoding="utf-8")
            try:
                mechanism = load(path, **self.overrides)
            except ModelError as error:
                raise ModelError([replace(problem, file=name) for problem in error.problems]) from None
        mechanism.description._file = "" if self.source.startswith(LIBRARY) else self.source
        return mechanism

    def save(self, path: str | None = None) -> Path:
        """Write the text to its file, or to another one."""
        if path is None and self.source.startswith(LIBRARY):
            raise ValueError("a mechanism of the library is not changed: give the name of a file")
        target = Path(path or self.source)
        write_text(target, self.text)
        self.source = str(target)
        return target

    # -- parameters -------------------------------------------------------------------------------------------------------------------------
    def parameters(self) -> dict[str, tuple[Parameter, float]]:
        """All parameters with their present values."""
        if self.mechanism is None:
            return {}
        values = parameter_values(self.mechanism.description)
        return {name: (each, values[name]) for name, each in self.mechanism.description.parameters.items()}

    def set(self, name: str, value: float | None) -> list[str]:
        """Give a parameter another value, None for that of the description; a value that cannot be is not kept."""
        before = dict(self.overrides)
        changed = {key: each for key, each in before.items() if key != name} | ({} if value is None else {name: float(value)})
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
        """Make a change again that was taken back."""
        return self._step(self._undone, self._before)

    def _step(self, source: list[dict[str, float]], target: list[dict[str, float]]) -> bool:
        if not source:
            return False
        target.append(dict(self.overrides))
        self._become(source.pop())
        return True

    def values_text(self) -> str:
        """Changed values, for a file."""
        return json.dumps(self.overrides, indent=1)

    def take_values(self, text: str) -> list[str]:
        """Values of a file that `values_text` wrote."""
        try:
            given = {str(name): float(value) for name, value in json.loads(text).items()}
        except (ValueError, TypeError, AttributeError):
            return ["expected a JSON object of names and numbers"]
        before = dict(self.overrides)
        problems = self._become(given)
        if not problems:
            self._before.append(before)
        return problems

    # -- work -------------------------------------------------------------------------------------------------------------------------------
    def run(self, stop_time: float | None, integrator: str = "auto") -> Finished:
        """Simulate and keep the run; `stop` ends it early, what was computed is kept."""
        mechanism = self._ready()
        self.part, self.running, self.stopping = 0.0, True, False
        try:
            if mechanism.description.chain is not None:
                result: Result = mechanism.chain().simulate(stop_time, inputs=self.inputs or None)
            else:
                system = mechanism.compile()
                result = system.simulate(stop_time, integrator=integrator, inputs=dict(self.inputs) or None, progress=self._told(stop_time))
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
        """Remembers how far a run is and ends it when that is asked for."""
        mechanism = self._ready()
        from kinetree.scripts.commands.run import end_of

        end = end_of(mechanism, stop_time) or 10.0  # type: ignore[arg-type]

        def told(t: float) -> None:
            self.part = min(t / end, 1.0) if end > 0.0 else 0.0
            if self.stopping:
                raise KeyboardInterrupt("stopped")

        return told

    def stop(self) -> None:
        """End the run under way."""
        self.stopping = True

    def _ready(self) -> Mechanism:
        if self.mechanism is None or self.problems:
            raise ValueError("the description has to be mended first: " + "; ".join(self.problems[:2]))
        return self.mechanism

    def start_page(self) -> str:
        """The mechanism at its start, in three dimensions."""
        from kinetree.models.scene.show import Animation, start_scene

        mechanism = self._ready()
        if mechanism.description.chain is not None:
            return self.run_page(Finished(0, mechanism.chain().simulate(), {}))
        return Animation(start_scene(mechanism.compile()).data()).html()

    def run_page(self, finished: Finished) -> str:
        """A run, in three dimensions with its plots."""
        if not finished.page:
            finished.page = finished.result.animate().html()
        return finished.page

    def statics(self) -> tuple[dict[str, Any], str]:
        """The state of rest as plain data, and its page with the small motions."""
        from kinetree.models.scene.show import Animation, rest_data

        system = self._ready().compile()
        rest = system.equilibrium(inputs=dict(self.inputs) or None)
        return rest.to_dict(), Animation(rest_data(system, [rest], ["at rest"])).html()

    def pack(self, backend: str, fmi: str) -> tuple[str, bytes]:
        """An FMU: its file's name and its content."""
        from kinetree.fmu.archive.build import build_fmu, identifier_of

        mechanism = self._ready()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{identifier_of(mechanism.description.name)}.fmu"
            again = Mechanism(plain(self.text, self.language), self.overrides)
            build_fmu(again, path, backend, fmi)
            return path.name, path.read_bytes()


def plain(text: str, language: str) -> dict[str, Any]:
    """The text as a dict."""
    from kinetree.models.description.source import parse_json, parse_toml

    return parse_json(text) if language == "JSON" else parse_toml(text)


def text_of(source: str) -> str:
    """What a description is written as; generated ones of the library as JSON."""
    if source.startswith(LIBRARY):
        entry = library_entry(source)
        return entry.read_text(encoding="utf-8") if isinstance(entry, Path) else json.dumps(entry(), indent=1)
    path = Path(source)
    if path.suffix.lower() in FOREIGN:
        return json.dumps(load(path).description.written.model_dump(mode="json", exclude_defaults=True, exclude_none=True), indent=1)
    if not path.exists():
        raise ValueError(f"no such file: {source}")
    return path.read_text(encoding="utf-8-sig")
