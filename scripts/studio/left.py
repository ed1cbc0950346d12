"""The left side of the studio: the description and its parameters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from kinetree.models.description.reading.read_source import library_names
from kinetree.models.description.schema import INTEGRATORS
from kinetree.scripts.commands.new import TEMPLATES
from kinetree.scripts.studio.build_panel import BuildPanel
from kinetree.scripts.studio.panels import HEADING, number, parameter_rows, structure
from kinetree.scripts.studio.session import Session
from kinetree.scripts.studio.settings import SettingsPanel, Work
from kinetree.scripts.studio.texts import EMPTY, LIBRARY, NEW

TOLD = 12  # problems and warnings that are listed
BUILD = "Build"
LANGUAGES = {"TOML": "TOML", "JSON": "JSON"}
THEMES = {True: "githubDark", False: "vscodeLight"}

PLACING = "window.kinetreePlacing = {0}"  # read by the scene's page
TO_VIEW = "if (innerWidth < 760) document.querySelector('.left').scrollIntoView({behavior: 'smooth'})"  # on phones it stands below the scene


class Left:
    """The description panel; `changed`, `opened` and `rebuilt` are called on
    changes, `work` does what takes a while.
    """

    def __init__(
        self,
        session: Session,
        dark: Callable[[], bool],
        changed: Callable[[], Any],
        opened: Callable[[], Awaitable[Any]],
        rebuilt: Callable[[], Awaitable[Any]],
        work: Work,
    ):
        self.session, self.dark, self.changed, self.opened = session, dark, changed, opened
        self.work, self.rebuilt = work, rebuilt
        with ui.tabs().props("dense align=left no-caps") as self.tabs:
            self.first = ui.tab("Parameters")
            text, tree = ui.tab("Description"), ui.tab("Structure")
            self.building, source = ui.tab(BUILD), ui.tab("Open")
        with ui.tab_panels(self.tabs, value=self.first, animated=False).classes("w-full grow"):
            with ui.tab_panel(self.first):
                self._parameters()
            with ui.tab_panel(text):
                self._text()
            with ui.tab_panel(tree):
                self.tree = ui.column().classes("w-full gap-1")
            with ui.tab_panel(self.building):
                self.build = BuildPanel(self.session, self.regenerated, self.again, self.save)
            with ui.tab_panel(source):
                self._sources()
        self.tabs.classes("left").on_value_change(self.turned)

    def is_building(self) -> bool:
        """Return whether the panel that builds is open."""
        return self.tabs.value in (BUILD, self.building)

    def turned(self) -> None:
        """Another panel is open: places are clicked in the scene only while something is built."""
        ui.run_javascript(TO_VIEW)
        ui.run_javascript(PLACING.format("true" if self.is_building() else "false"))

    # -- what stands where ----------------------------------------------------------------------------------------------------------------
    def _parameters(self) -> None:
        with ui.row().classes("w-full items-center gap-1 pb-2 no-wrap"):
            self.search = (
                ui.input(placeholder="Find", on_change=self.show_values)
                .props("dense outlined clearable")
                .classes("grow")
            )
            for icon, told, action, mark in (
                (
                    "undo",
                    "take the last change back",
                    lambda: self.again(self.session.undo),
                    "undo",
                ),
                ("redo", "make it again", lambda: self.again(self.session.redo), "redo"),
                ("download", "values as a table: name, value, unit, text", self.download, "export"),
                (
                    "upload",
                    "values from such a table, or from JSON",
                    lambda: self.upload.run_method("pickFiles"),
                    "import",
                ),
                (
                    "edit_note",
                    "write the changed values into the description",
                    self.settle,
                    "settle",
                ),
            ):
                ui.button(icon=icon, on_click=action).props(
                    f'flat dense round aria-label="{mark}"'
                ).mark(mark).tooltip(told)
        self.upload = (
            ui.upload(on_upload=self.take, auto_upload=True)
            .props('accept=".csv,.json,.txt"')
            .classes("hidden")
        )
        self.settings = SettingsPanel(self.session, self.work, self.regenerated)
        self.rows = ui.column().classes("w-full gap-2")
        ui.label("Run").classes(HEADING)
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            self.end = (
                ui.input("stop time", placeholder="as described")
                .props('dense outlined suffix="s"')
                .classes("w-36")
                .mark("end")
            )
            self.integrator = (
                ui.select(list(INTEGRATORS), value="auto", label="integrator")
                .props("dense outlined")
                .classes("grow")
            )
        self.given = ui.column().classes("w-full gap-2 pt-2")

    def _text(self) -> None:
        self.problems = ui.column().classes("w-full gap-0 pb-1").mark("problems")
        self.editor = ui.codemirror(self.session.text, line_wrapping=False, on_change=self.typed)
        self.editor.classes("w-full text-sm editor").mark("editor")
        with ui.row().classes("w-full items-center gap-2 pt-2 no-wrap"):
            ui.button("Save", icon="save", on_click=self.save).props("flat dense no-caps").mark(
                "save"
            )
            self.file = ui.input("file").props("dense outlined").classes("grow").mark("file")
            ui.button(icon="download", on_click=self.download_text).props(
                "flat dense round"
            ).tooltip("the description as a file")

    def _sources(self) -> None:
        ui.label("Begin a new one").classes(HEADING)
        with ui.column().classes("w-full gap-1"):
            for name, (_, told) in TEMPLATES.items():
                with ui.row().classes("w-full items-center no-wrap gap-2"):
                    ui.button(name, on_click=lambda _, n=name: self.open(NEW + n)).props(
                        "flat dense no-caps"
                    ).classes("w-24")
                    ui.label(told).classes("text-xs opacity-70")
            with ui.row().classes("w-full items-center no-wrap gap-2"):
                ui.button(EMPTY, on_click=lambda: self.open(NEW + EMPTY)).props(
                    "flat dense no-caps"
                ).classes("w-24").mark("new-empty")
                ui.label("built from bodies and joints").classes("text-xs opacity-70")
        ui.label("Open one").classes(HEADING)
        choice = (
            ui.select(
                [LIBRARY + name for name in library_names()],
                with_input=True,
                label="of the library",
            )
            .classes("w-full")
            .mark("library")
        )
        choice.props("dense outlined").on_value_change(lambda event: self.open(event.value))
        path = (
            ui.input("file (.toml, .json, .urdf, .xml)")
            .props("dense outlined")
            .classes("w-full")
            .mark("path")
        )
        path.on("keydown.enter", lambda: self.open(path.value))

    # -- what changes -----------------------------------------------------------------------------------------------------------------------
    def refresh(self) -> None:
        """Update everything that shows the description."""
        session = self.session
        self.problems.clear()
        with self.problems:
            for text, colour in (
                *((each, "negative") for each in session.problems),
                *((each, "warning") for each in session.warnings),
            ):
                ui.label(text).classes(f"text-xs text-{colour}")
        self.build.refresh()
        if session.problems or session.mechanism is None:
            return
        self.show_values()
        self.given.clear()
        with self.given:
            for name, value in session.mechanism.description.inputs.items():
                field = (
                    ui.input(name, placeholder=str(value.start))
                    .props(f'dense outlined suffix="{value.unit}"')
                    .classes("w-full")
                )
                field.on("blur", lambda _, f=field, n=name: self.hold(n, f))
        self.tree.clear()
        with self.tree:
            structure(session, "#c9d1d9" if self.dark() else "#333")

    def show_values(self) -> None:
        wanted = str(self.search.value or "")
        self.settings.refresh(wanted)
        self.rows.clear()
        with self.rows:
            parameter_rows(self.session, self.set, wanted)

    async def regenerated(self) -> None:
        """Show a description that was generated anew."""
        self.rewrite()
        await self.rebuilt()

    def rewrite(self) -> None:
        """Update the editor after the text changed elsewhere."""
        self.editor.set_value(self.session.text)
        self.editor.set_language(LANGUAGES[self.session.language])  # type: ignore[arg-type]
        self.file.set_value(
            self.session.source if self.session.own else self.session.suggested_name()
        )
        self.changed()

    def paint(self) -> None:
        """Set the colours of the theme."""
        self.editor.set_theme(THEMES[self.dark()])  # type: ignore[arg-type]
        self.refresh()

    def typed(self, event: Any) -> None:
        """Check the text while typing."""
        if event.value == self.session.text:
            return
        self.session.text = event.value
        self.session.check()
        self.changed()

    def set(self, name: str, value: float | None) -> None:
        """Apply a typed parameter value."""
        for problem in self.session.set(name, value):
            ui.notify(problem, type="negative", multi_line=True)
        self.changed()

    def hold(self, name: str, field: Any) -> None:
        """Hold an input at a value, or give it back to the description."""
        try:
            value = number(field.value)
        except ValueError:
            ui.notify(f"{field.value!r} is not a number", type="negative")
            return
        self.session.inputs.pop(name, None)
        if value is not None:
            self.session.inputs[name] = value

    def again(self, step: Callable[[], bool]) -> Awaitable[Any] | None:
        """Take a change back or repeat it; return what is left to do where the text changed."""
        before = self.session.text
        if not step():
            return None
        return self.regenerated() if self.session.text != before else self.changed()

    def settle(self) -> None:
        """Write changed values into the text."""
        if not self.session.overrides:
            ui.notify("no value differs from the description")
            return
        try:
            self.session.settle()
        except ValueError as error:
            ui.notify(str(error), type="warning", multi_line=True)
            return
        self.rewrite()
        ui.notify("the description has the values now; save it to keep them")

    async def open(self, source: str | None) -> None:
        if not source:
            return
        try:
            self.session.open(source)
        except Exception as error:  # whatever a file may hold
            ui.notify(str(error), type="negative", multi_line=True)
            return
        self.settings.problems = []
        self.rewrite()
        self.tabs.set_value(self.building if source == NEW + EMPTY else self.first)
        await self.opened()

    def save(self) -> None:
        try:
            ui.notify(f"written: {self.session.save(str(self.file.value or '').strip() or None)}")
        except (ValueError, OSError) as error:
            ui.notify(str(error), type="warning")

    def download(self) -> None:
        ui.download(self.session.values_text().encode(), "values.csv")

    def download_text(self) -> None:
        ui.download(self.session.text.encode(), self.session.suggested_name())

    async def take(self, event: Any) -> None:
        content = (await event.file.read()).decode("utf-8", "replace")
        self.upload.reset()
        before = self.session.text
        problems = await self.work(self.session.take_values, content) or []
        for problem in problems:
            ui.notify(problem, type="negative", multi_line=True)
        if not problems:
            ui.notify(f"{len(self.session.overrides)} values differ from the description")
        if self.session.text != before:
            await self.regenerated()
        else:
            self.changed()
