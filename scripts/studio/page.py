"""The studio's page: description on the left; scene, plots, tables, stages, equilibrium and maps on
the right.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import run, ui

from kinetree.scripts.studio.equilibrium_panel import EquilibriumPanel
from kinetree.scripts.studio.left import Left
from kinetree.scripts.studio.numbers import Numbers
from kinetree.scripts.studio.panels import number
from kinetree.scripts.studio.plots import Plots
from kinetree.scripts.studio.session import Finished, Session
from kinetree.scripts.studio.shortcuts import Shortcut, listen
from kinetree.scripts.studio.study import Study
from kinetree.scripts.studio.timeline import Timeline

ACCENT = "#1f6fb5"
BACKENDS = {
    f"{word}, FMI {version}.0": (word.lower(), version)
    for word in ("native", "Python")
    for version in "23"
}
STYLE = """<style>
.nicegui-content { padding: 0 }
.q-tab { min-height: 38px; text-transform: none; padding: 0 12px }
.q-header { overflow: hidden }
.q-header .q-btn__content { flex-wrap: nowrap; white-space: nowrap }
.q-splitter { height: calc(100vh - 52px) }
.scene { width: 100%; height: calc(100vh - 92px); min-height: 420px; border: 0; display: block }
.side { height: calc(100vh - 52px); overflow: auto; flex-wrap: nowrap }
.editor { height: calc(100vh - 220px); min-height: 300px }
.plots { display: grid; grid-template-columns: 190px minmax(0, 1fr); gap: 12px }
.plots .list { max-height: calc(100vh - 190px); overflow: auto }
.variable { display: flex; justify-content: space-between; gap: 6px; padding: 2px 8px; font-size: 13px; border-radius: 4px; cursor: grab }
.variable:hover { background: #8882 }
.choices { flex-wrap: wrap }
.choices .q-btn { flex: 0 0 auto; padding: 2px 8px }
.chart { border: 1px solid #8883; border-radius: 6px; padding: 4px 8px }
@layer theme { /* of what is important the first layer counts */
  .text-warning { color: #8f5600 !important }
  .body--dark .text-warning { color: #f2c037 !important }
  .body--dark .q-splitter .text-primary { color: #7ab7f0 !important }
  @media (max-width: 760px) { .q-header .q-btn .block { display: none !important } }
}
.q-splitter .q-chip__icon, .q-splitter .q-tree__arrow { opacity: 1; color: inherit }
@media (max-width: 760px) {
  .q-header .q-btn .on-left { margin-right: 0 }
  .q-splitter--vertical { display: flex; flex-direction: column-reverse; height: auto }
  .views { flex-wrap: wrap }
  .views .q-tab, .left .q-tab { padding: 0 7px; min-width: 0 }
  .q-splitter--vertical > .q-splitter__panel { width: 100% !important }
  .side { height: auto }
  .editor { height: 60vh }
  .scene { height: 62vh }
  .q-splitter__separator { display: none }
  .plots { grid-template-columns: minmax(0, 1fr) }
  .plots .list { max-height: 180px }
}
</style>"""
PLACING_OFF = "<script>window.kinetreePlacing = false</script>"  # tells scenes where they are
SCENE = "Scene"
NOTE = "<p style='font: 15px system-ui; color: #789; padding: 2em'>{}</p>"
NO_SCENE = NOTE.format("Nothing to see yet: add a body, or open a mechanism.")
LIVE_SOON = NOTE.format(
    "The live page is made. The first time the engine is compiled for it, which takes minutes."
)
WHITE = "dense unelevated no-caps color=white text-color"
SEEK = "document.querySelector('iframe.scene').contentWindow.kinetree?.seek({0})"


class StudioPage:
    """One browser window of a session."""

    def __init__(self, session: Session, pages: dict[str, str]):
        self.session, self.pages = session, pages
        self.count = 0
        self.shown: Finished | None = None
        ui.add_head_html(STYLE + PLACING_OFF)
        ui.colors(primary=ACCENT)
        self.dark = ui.dark_mode(None)
        self._header()
        with ui.splitter(value=32, limits=(20, 60)).classes("w-full") as splitter:
            with splitter.before, ui.column().classes("side w-full gap-0"):
                self.left = Left(
                    session, self.is_dark, self.describe, self.opened, self.rebuilt, self.work
                )
            with splitter.after, ui.column().classes("side w-full gap-0"):
                self._right()
        ui.on("kinetree-placed", self.placed)
        self.show_keys = listen(self.shortcuts())
        ui.timer(0.15, self._pulse)
        ui.timer(0.05, self.begin, once=True)

    # -- what stands where ----------------------------------------------------------------------------------------------------------------
    def _header(self) -> None:
        with ui.header().classes("items-center no-wrap gap-2 px-3 py-1").style("min-height: 52px"):
            ui.label("Kinetree").classes("text-base font-semibold")
            self.name = ui.label().classes("opacity-90 ellipsis grow")
            self.state = (
                ui.chip("", icon="check")
                .props("square dense color=white text-color=primary")
                .classes("shrink-0")
                .mark("state")
            )
            self.bar = (
                ui.linear_progress(0.0, show_value=False)
                .props("color=white instant-feedback")
                .classes("w-24")
            )
            self.bar.set_visibility(False)
            self.go = (
                ui.button("Run", icon="play_arrow", on_click=self.simulate)
                .props(f'{WHITE}=primary aria-label="Run"')
                .classes("px-3 shrink-0")
            )
            self.go.mark("run")
            self.halt = (
                ui.button("Stop", icon="stop", on_click=self.session.stop)
                .props(f'{WHITE}=negative aria-label="Stop"')
                .classes("px-3 shrink-0")
            )
            self.halt.mark("stop").set_visibility(False)
            rest = (
                ui.button("Equilibrium", icon="balance", on_click=self.rest)
                .props('dense flat no-caps color=white aria-label="Equilibrium"')
                .mark("rest")
            )
            rest.classes("shrink-0").tooltip(
                "equilibrium, loads, vibration modes; every state of the preparation"
            )
            live = (
                ui.button("Live", icon="touch_app", on_click=self.live)
                .props('dense flat no-caps color=white aria-label="Live"')
                .mark("live")
            )
            live.classes("shrink-0").tooltip("runs while inputs, parameters and bodies are moved")
            with (
                ui.button(icon="more_vert")
                .props('dense flat round color=white aria-label="More"')
                .mark("more"),
                ui.menu(),
            ):
                for title, (backend, version) in BACKENDS.items():
                    ui.menu_item(f"FMU: {title}", partial(self.pack, backend, version))
                ui.separator()
                ui.menu_item("Results as CSV", self.download_csv)
                ui.menu_item("This scene as a page", self.download_page)
                ui.separator()
                ui.menu_item("Light or dark", self.turn)
                ui.menu_item("Keys", lambda: self.show_keys())

    def shortcuts(self) -> list[Shortcut]:
        """Return what keys do while Alt is held."""
        views = [SCENE, "Plots", "Numbers", "Stages", "Equilibrium", "Map"]
        return [
            Shortcut("KeyR", "R", "run", self.simulate),
            Shortcut("KeyS", "S", "stop the run", self.session.stop),
            Shortcut("KeyE", "E", "equilibrium", self.rest),
            Shortcut("KeyL", "L", "live: moved by hand while it runs", self.live),
            Shortcut(
                "KeyZ", "Z", "undo the last change", partial(self.left.again, self.session.undo)
            ),
            Shortcut("KeyY", "Y", "repeat it", partial(self.left.again, self.session.redo)),
            Shortcut("KeyK", "K", "this list", lambda: self.show_keys()),
            *(
                Shortcut(f"Digit{k}", str(k), f"view: {name}", partial(self.views.set_value, name))
                for k, name in enumerate(views, 1)
            ),
        ]

    def _right(self) -> None:
        with ui.row().classes("views w-full items-center no-wrap gap-x-2 gap-y-0"):
            with (
                ui.tabs()
                .props("dense align=left no-caps inline-label")
                .classes("grow min-w-0") as self.views
            ):
                self.see, self.draw = ui.tab(SCENE), ui.tab("Plots")
                self.count_up, self.when, self.stand, self.vary = (
                    ui.tab("Numbers"),
                    ui.tab("Stages"),
                    ui.tab("Equilibrium"),
                    ui.tab("Map"),
                )
            self.chosen = (
                ui.select({}, on_change=self.choose)
                .props("dense borderless options-dense")
                .classes("max-w-48 shrink px-3")
                .mark("chosen")
            )
            self.chosen.set_visibility(False)
        # beside the panels: a frame that is taken out of the page and put back begins anew
        self.scene = (
            ui.element("iframe").classes("scene").props('title="The mechanism in three dimensions"')
        )
        with ui.tab_panels(self.views, value=self.see, animated=False, keep_alive=True).classes(
            "w-full grow"
        ) as panels:
            ui.tab_panel(self.see).classes("p-0")
            with ui.tab_panel(self.draw):
                self.plots = Plots(self.session, self.is_dark, self.seek, self.left.rewrite)
            with ui.tab_panel(self.count_up):
                self.numbers = Numbers(self.session)
            with ui.tab_panel(self.when):
                self.timeline = Timeline(self.session, self.seek)
            with ui.tab_panel(self.stand):
                self.equilibria = EquilibriumPanel(self.session, self.work, self.show_state)
            with ui.tab_panel(self.vary):
                self.study = Study(
                    self.session, self.work, self.is_dark, lambda: self.left.end.value
                )

        def front(name: str) -> None:
            self.scene.set_visibility(name == SCENE)
            panels.set_visibility(name != SCENE)

        self.views.on_value_change(lambda event: front(str(event.value)))
        front(SCENE)

    # -- what changes -----------------------------------------------------------------------------------------------------------------------
    def is_dark(self) -> bool:
        return bool(self.dark.value)

    async def begin(self) -> None:
        """The theme of the browser, the mechanism at its start."""
        for _ in range(6):  # a busy browser answers late
            try:
                self.dark.value = bool(
                    await ui.run_javascript(
                        "matchMedia('(prefers-color-scheme: dark)').matches", timeout=10.0
                    )
                )
                break
            except TimeoutError:
                continue
        self.left.rewrite()
        self.left.paint()
        await self.show_start()

    def turn(self) -> None:
        """Switch between light and dark theme."""
        self.dark.value = not self.dark.value
        self.left.paint()
        self.plots.draw()
        self.study.draw()
        ui.run_javascript(
            f"document.querySelector('iframe.scene').contentWindow.kinetree?.theme('{self.theme()}')"
        )

    def theme(self) -> str:
        return "dark" if self.is_dark() else "light"

    def describe(self) -> None:
        """Update everything that shows the description."""
        session = self.session
        good = session.mechanism is not None and not session.problems
        self.name.set_text(
            session.mechanism.description.name or session.source
            if session.mechanism
            else session.source
        )
        errors = len(session.problems)
        self.state.set_text("OK" if good else f"{errors} error{'s' * (errors > 1)}")
        self.state.props(
            f"icon={'check' if good else 'error'} text-color={'primary' if good else 'negative'}"
        )
        self.go.set_enabled(good)
        self.left.refresh()
        if good:
            self.study.refresh()

    async def opened(self) -> None:
        """Another description: nothing has run yet."""
        self.shown = None
        self.equilibria.clear()
        self.after_run()
        self.plots.asked = False
        self.views.set_value(SCENE)
        await self.show_start()

    async def rebuilt(self) -> None:
        """The mechanism has other bodies or drives: its start is shown, runs are kept to compare."""
        self.equilibria.clear()
        await self.show_start()

    def after_run(self) -> None:
        """Update everything that shows runs."""
        self.chosen.set_options(
            {each.number: each.label for each in self.session.runs},
            value=self.shown.number if self.shown else None,
        )
        self.chosen.set_visibility(len(self.session.runs) > 1)
        self.plots.refresh()
        self.numbers.refresh(self.shown)
        self.timeline.refresh(self.shown)

    async def choose(self, event: Any) -> None:
        """Another of the kept runs: its scene, numbers and stages."""
        found = next((each for each in self.session.runs if each.number == event.value), None)
        if found is None or found is self.shown:
            return
        self.shown = found
        self.numbers.refresh(found)
        self.timeline.refresh(found)
        await self.show_run(found)

    # -- work -------------------------------------------------------------------------------------------------------------------------------
    def show(self, html: str) -> None:
        """Put a page into the scene's frame."""
        self.count += 1
        key = f"{id(self)}-{self.count}"
        self.pages[key] = html
        self.pages.pop(f"{id(self)}-{self.count - 2}", None)
        self.scene.props(f'src="/scene/{key}?theme={self.theme()}"')

    def seek(self, t: float) -> None:
        """Show an instant of the run in the scene."""
        self.views.set_value(SCENE)
        ui.run_javascript(SEEK.format(repr(float(t))))

    async def work(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Something that takes a while, beside the page; what it cannot do is said."""
        try:
            return await run.io_bound(task, *arguments)
        except Exception as error:  # said to the user, whose input it is
            ui.notify(
                str(error.args[0] if isinstance(error, KeyError) else error),
                type="negative",
                multi_line=True,
                timeout=10000,
            )
            return None

    async def show_start(self) -> None:
        if self.session.mechanism is None:
            self.show(NO_SCENE)
            return
        html = await self.work(self.session.start_page) if not self.session.problems else None
        if html:
            self.show(html)

    def placed(self, event: Any) -> None:
        """Hand over a place that was clicked in the scene."""
        if self.left.is_building():
            self.left.build.placed(str(event.args["body"]), list(event.args["point"]))

    async def show_run(self, finished: Finished) -> None:
        html = await self.work(self.session.run_page, finished)
        if html:
            self.show(html)

    async def simulate(self) -> None:
        try:
            end = number(self.left.end.value)
        except ValueError:
            ui.notify(f"stop time: {self.left.end.value!r} is not a number", type="negative")
            return
        if self.session.running:
            return
        finished = await self.work(self.session.run, end, self.left.integrator.value)
        if finished is None:
            return
        if finished.result.interrupted:
            ui.notify(f"ended early: {finished.result.interrupted}", type="warning")
        self.shown = finished
        self.after_run()
        await self.show_run(finished)

    async def live(self) -> None:
        """Show the mechanism as a page that computes while it is moved."""
        try:
            end = number(self.left.end.value)
        except ValueError:
            ui.notify(f"stop time: {self.left.end.value!r} is not a number", type="negative")
            return
        if self.session.problems:
            ui.notify("the description has errors: mend them first", type="negative")
            return
        self.views.set_value(SCENE)
        self.show(LIVE_SOON)
        html = await self.work(self.session.live_page, end, lambda text: None)
        if html:
            self.show(html)
        else:
            await self.show_start()

    async def rest(self) -> None:
        await self.equilibria.compute()

    def show_state(self, html: str) -> None:
        """Put the page of an equilibrium into the scene; without one, turn to the scene."""
        if html:
            self.show(html)
        else:
            self.views.set_value(SCENE)

    async def pack(self, backend: str, version: str) -> None:
        ui.notify("packing the FMU …")
        made = await self.work(self.session.pack, backend, version)
        if made:
            ui.download(made[1], made[0])

    async def download_csv(self) -> None:
        from tempfile import TemporaryDirectory

        if self.shown is None:
            ui.notify("nothing has run yet")
            return
        with TemporaryDirectory() as folder:
            self.shown.result.to_csv(f"{folder}/r.csv")
            with open(f"{folder}/r.csv", "rb") as file:
                ui.download(file.read(), f"run-{self.shown.number}.csv")

    def download_page(self) -> None:
        html = self.pages.get(f"{id(self)}-{self.count}")
        if html:
            ui.download(html.encode(), "scene.html")

    def _pulse(self) -> None:
        """Update progress and buttons of a running simulation."""
        running = self.session.running
        self.bar.set_visibility(running)
        self.bar.set_value(self.session.part)
        self.halt.set_visibility(running)
        self.go.set_visibility(not running)
