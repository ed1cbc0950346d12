"""The studio's page: description and parameters to the left, the mechanism in three dimensions beside them, numbers and comparison below it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import run, ui

from kinetree.models.description.schema import INTEGRATORS
from kinetree.models.description.source import library_names
from kinetree.scripts.studio.panels import Comparison, number, parameter_rows, statics_table, structure, table_of
from kinetree.scripts.studio.session import LIBRARY, Session

ACCENT = "#1f6fb5"
BACKENDS = {"native, FMI 2.0": ("native", "2"), "native, FMI 3.0": ("native", "3"), "Python, FMI 2.0": ("python", "2")}
STYLE = """<style>
.nicegui-content { padding: 0 }
.q-tab { min-height: 38px; text-transform: none }
.q-header { overflow: hidden }
.q-splitter { height: calc(100vh - 52px) }
.scene { width: 100%; height: 100%; min-height: 420px; border: 0; display: block }
.side { height: calc(100vh - 52px); overflow: auto }
@media (max-width: 760px) {
  .q-header .q-btn .q-icon + .block { display: none }
  .q-splitter--vertical { display: block; height: auto }
  .q-splitter--vertical > .q-splitter__panel { width: 100% !important }
  .side { height: auto }
  .scene { height: 70vh }
  .q-splitter__separator { display: none }
}
</style>"""
WHITE = "dense unelevated no-caps color=white text-color"


class StudioPage:
    """One browser window on the session."""

    def __init__(self, session: Session, pages: dict[str, str]):
        self.session, self.pages = session, pages
        self.shown = 0
        ui.add_head_html(STYLE)
        ui.colors(primary=ACCENT)
        self.dark = ui.dark_mode(None)
        self._header()
        with ui.splitter(value=32, limits=(20, 60)).classes("w-full") as splitter:
            with splitter.before, ui.column().classes("side w-full gap-0"):
                self._left()
            with splitter.after, ui.column().classes("side w-full gap-0"):
                self._right()
        ui.timer(0.15, self._pulse)
        ui.timer(0.05, self.show_start, once=True)

    # -- what stands where ----------------------------------------------------------------------------------------------------------------
    def _header(self) -> None:
        with ui.header().classes("items-center no-wrap gap-2 px-3 py-1").style("min-height: 52px"):
            ui.label("Kinetree").classes("text-base font-semibold")
            self.name = ui.label().classes("opacity-90 ellipsis grow")
            self.state = ui.chip("", icon="check").props("square dense color=white text-color=primary").mark("state")
            self.bar = ui.linear_progress(0.0, show_value=False).props("color=white instant-feedback").classes("w-24")
            self.bar.set_visibility(False)
            self.go = ui.button("Run", icon="play_arrow", on_click=self.simulate).props(f"{WHITE}=primary").classes("px-3").mark("run")
            self.halt = ui.button("Stop", icon="stop", on_click=self.session.stop).props(f"{WHITE}=negative").classes("px-3")
            self.halt.mark("stop").set_visibility(False)
            rest = ui.button("At rest", on_click=self.rest).props("dense flat no-caps color=white").mark("rest")
            rest.tooltip("state of rest, loads, small motions")
            with ui.button(icon="more_vert").props("dense flat round color=white").mark("more"), ui.menu():
                for title, (backend, version) in BACKENDS.items():
                    ui.menu_item(f"FMU: {title}", partial(self.pack, backend, version))
                ui.separator()
                ui.menu_item("Results as CSV", self.download_csv)
                ui.menu_item("This scene as a page", self.download_page)
                ui.separator()
                ui.menu_item("Light or dark", self.dark.toggle)

    def _left(self) -> None:
        with ui.tabs().props("dense align=left no-caps") as tabs:
            first = ui.tab("Parameters")
            text, tree, source = ui.tab("Description"), ui.tab("Structure"), ui.tab("Open")
        with ui.tab_panels(tabs, value=first, animated=False).classes("w-full grow"):
            with ui.tab_panel(first):
                with ui.row().classes("w-full items-center gap-1 pb-2"):
                    ui.button(icon="undo", on_click=lambda: self.again(self.session.undo)).props("flat dense round").mark("undo").tooltip("undo")
                    ui.button(icon="redo", on_click=lambda: self.again(self.session.redo)).props("flat dense round").mark("redo").tooltip("redo")
                    ui.button(icon="download", on_click=self.download_values).props("flat dense round").tooltip("changed values as a file")
                    ui.upload(on_upload=self.take_values, auto_upload=True, label="values from a file").props('flat dense accept=".json"').classes(
                        "w-44"
                    )
                self.rows = ui.column().classes("w-full gap-2")
                ui.label("Run").classes("text-xs uppercase opacity-60 mt-4")
                with ui.row().classes("w-full items-center gap-2 no-wrap"):
                    self.end = ui.input("stop time", placeholder="as described").props('dense outlined suffix="s"').classes("w-36").mark("end")
                    self.integrator = ui.select(list(INTEGRATORS), value="auto", label="integrator").props("dense outlined").classes("grow")
                self.given = ui.column().classes("w-full gap-2")
            with ui.tab_panel(text):
                self.editor = ui.codemirror(self.session.text, language=None, line_wrapping=False, on_change=self.typed)
                self.editor.classes("w-full text-sm").style("height: 62vh").mark("editor")
                self.problems = ui.column().classes("w-full gap-0 pt-2").mark("problems")
                ui.button("Save", icon="save", on_click=self.save).props("flat dense no-caps")
            with ui.tab_panel(tree):
                self.tree = ui.column().classes("w-full")
            with ui.tab_panel(source):
                choice = ui.select([LIBRARY + name for name in library_names()], with_input=True, label="Mechanism of the library").classes("w-full")
                choice.on_value_change(lambda event: self.open(event.value))
                path = ui.input("File (.toml, .json, .urdf, .xml)").classes("w-full")
                path.on("keydown.enter", lambda: self.open(path.value))
        self.describe()

    def _right(self) -> None:
        with ui.tabs().props("dense align=left no-caps") as self.views:
            self.see = ui.tab("Scene")
            self.numbers, self.compare, self.stand = ui.tab("Numbers"), ui.tab("Compare runs"), ui.tab("Rest")
        with ui.tab_panels(self.views, value=self.see, animated=False, keep_alive=True).classes("w-full grow"):
            with ui.tab_panel(self.see).classes("p-0"):
                self.scene = (
                    ui.element("iframe").classes("scene").style("height: calc(100vh - 92px)").props('title="The mechanism in three dimensions"')
                )
            with ui.tab_panel(self.numbers):
                self.table = ui.column().classes("w-full")
            with ui.tab_panel(self.compare):
                self.comparison = Comparison(self.session)
            with ui.tab_panel(self.stand):
                self.rested = ui.column().classes("w-full gap-0")

    # -- what changes -----------------------------------------------------------------------------------------------------------------------
    def describe(self) -> None:
        """Everything that tells of the description."""
        session = self.session
        good = session.mechanism is not None and not session.problems
        self.name.set_text(session.mechanism.description.name or session.source if session.mechanism else session.source)
        self.state.set_text("good" if good else f"{len(session.problems)} to mend")
        self.state.props(f"icon={'check' if good else 'error'} text-color={'primary' if good else 'negative'}")
        self.go.set_enabled(good)
        self.problems.clear()
        with self.problems:
            for problem in session.problems[:12]:
                ui.label(problem).classes("text-xs text-negative")
        if not good:
            return
        self.rows.clear()
        with self.rows:
            parameter_rows(session, self.set)
        self.given.clear()
        with self.given:
            for name, value in session.mechanism.description.inputs.items() if session.mechanism else ():
                field = ui.input(name, placeholder=str(value.start)).props(f'dense outlined suffix="{value.unit}"').classes("w-full")
                field.on("blur", lambda _, f=field, n=name: self.hold(n, f))
        self.tree.clear()
        with self.tree:
            structure(session)

    def typed(self, event: Any) -> None:
        """Check while typing."""
        self.session.text = event.value
        self.session.check()
        self.describe()

    def set(self, name: str, value: float | None) -> None:
        """A value was typed."""
        for problem in self.session.set(name, value):
            ui.notify(problem, type="negative", multi_line=True)
        self.describe()

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

    def again(self, step: Callable[[], bool]) -> None:
        if step():
            self.describe()

    async def open(self, source: str | None) -> None:
        if not source:
            return
        try:
            self.session.open(source)
        except Exception as error:  # whatever a file may hold
            ui.notify(str(error), type="negative", multi_line=True)
            return
        self.editor.set_value(self.session.text)
        self.describe()
        await self.show_start()

    def save(self) -> None:
        try:
            ui.notify(f"written: {self.session.save()}")
        except (ValueError, OSError) as error:
            ui.notify(str(error), type="warning")

    # -- work -------------------------------------------------------------------------------------------------------------------------------
    def show(self, html: str) -> None:
        """Put a page into the scene's frame."""
        self.shown += 1
        key = f"{id(self)}-{self.shown}"
        self.pages[key] = html
        self.pages.pop(f"{id(self)}-{self.shown - 2}", None)
        self.scene.props(
            f'src="/scene/{key}?theme={"dark" if self.dark.value else "light"}"' if self.dark.value is not None else f'src="/scene/{key}"'
        )

    async def work(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Something that takes a while, beside the page; what it cannot do is said."""
        try:
            return await run.io_bound(task, *arguments)
        except Exception as error:  # said to the user, whose input it is
            ui.notify(str(error.args[0] if isinstance(error, KeyError) else error), type="negative", multi_line=True, timeout=10000)
            return None

    async def show_start(self) -> None:
        html = await self.work(self.session.start_page) if not self.session.problems else None
        if html:
            self.show(html)

    async def simulate(self) -> None:
        try:
            end = number(self.end.value)
        except ValueError:
            ui.notify(f"stop time: {self.end.value!r} is not a number", type="negative")
            return
        if self.session.running:
            return
        finished = await self.work(self.session.run, end, self.integrator.value)
        if finished is None:
            return
        if finished.result.interrupted:
            ui.notify(f"ended early: {finished.result.interrupted}", type="warning")
        html = await self.work(self.session.run_page, finished)
        if html:
            self.show(html)
        self.table.clear()
        with self.table:
            ui.label(finished.label).classes("text-sm font-medium").mark("run-label")
            table_of(finished)
        self.comparison.refresh()

    async def rest(self) -> None:
        found = await self.work(self.session.statics)
        if found:
            self.show(found[1])
            self.rested.clear()
            with self.rested:
                statics_table(found[0])

    async def pack(self, backend: str, version: str) -> None:
        ui.notify("packing the FMU …")
        made = await self.work(self.session.pack, backend, version)
        if made:
            ui.download(made[1], made[0])

    def download_values(self) -> None:
        ui.download(self.session.values_text().encode(), "values.json")

    async def take_values(self, event: Any) -> None:
        content = (await event.file.read()).decode("utf-8", "replace")
        for problem in self.session.take_values(content):
            ui.notify(problem, type="negative")
        self.describe()

    async def download_csv(self) -> None:
        from tempfile import TemporaryDirectory

        if not self.session.runs:
            ui.notify("nothing has run yet")
            return
        finished = self.session.runs[-1]
        with TemporaryDirectory() as folder:
            finished.result.to_csv(f"{folder}/r.csv")
            with open(f"{folder}/r.csv", "rb") as file:
                ui.download(file.read(), f"run-{finished.number}.csv")

    def download_page(self) -> None:
        html = self.pages.get(f"{id(self)}-{self.shown}")
        if html:
            ui.download(html.encode(), "scene.html")

    def _pulse(self) -> None:
        """Progress and buttons of a run under way."""
        running = self.session.running
        self.bar.set_visibility(running)
        self.bar.set_value(self.session.part)
        self.halt.set_visibility(running)
        self.go.set_visibility(not running)
