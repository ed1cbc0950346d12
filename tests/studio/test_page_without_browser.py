"""The studio's page without a browser: what its fields, buttons and lists do, as NiceGUI plays a user in this process."""

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("nicegui")
from nicegui import background_tasks, ui
from nicegui.testing.user import User
from nicegui.testing.user_interaction import UserInteraction
from nicegui.testing.user_simulation import user_simulation

from kinetree.models import load
from kinetree.models.description.reading.read_source import Text
from kinetree.scripts.commands.new import content
from kinetree.scripts.studio.page import StudioPage
from kinetree.scripts.studio.session import Session


class Visit:
    """A user before the page of a mechanism."""

    def __init__(self, user: User, page: StudioPage, pages: dict[str, str], scripts: list[str]):
        self.user, self.page, self.session, self.pages, self.scripts = (
            user,
            page,
            page.session,
            pages,
            scripts,
        )

    @property
    def told(self) -> list[str]:
        return self.user.notify.messages

    async def until(self, true: Callable[[], object], what: str) -> None:
        for _ in range(300):
            if true():
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{what}; told: {self.told}")

    async def hears(self, text: str) -> None:
        await self.until(lambda: any(text in each for each in self.told), f"'{text}' was not told")

    def sees(self, text: str) -> bool:
        return self.user._sees(text)

    def fill(self, marker: str, text: str, leave: str = "keydown.enter") -> None:
        field = self.user.find(marker=marker)
        field.clear().type(text).trigger(leave)

    def turn_to(self, title: str) -> None:
        """Look at one of the views, or at one of the folders to the left: what is behind others is not seen."""
        tabs = [
            each for each in self.user.find(kind=ui.tab).elements if each.props["name"] == title
        ]
        UserInteraction(self.user, set(tabs), None).click()

    def press(self, marker: str) -> None:
        self.user.find(marker=marker).click()

    async def run(self) -> None:
        """One run, until its scene stands."""
        before = self.session.runs[-1].number if self.session.runs else 0
        self.press("run")
        await self.until(
            lambda: (
                self.session.runs
                and self.session.runs[-1].number > before
                and self.session.runs[-1].page
            ),
            "no run",
        )

    async def downloaded(self, act: Callable[[], Any]) -> str:
        """What pressing something brings as a file."""
        answers = self.user.download.http_responses
        before = len(answers)
        act()
        await self.until(lambda: len(answers) > before, "nothing was downloaded")
        return answers[-1].text


def visit(source: str, play: Callable[[Visit], Awaitable[None]]) -> None:
    """A page of its own, which the user has open while the story is played."""

    async def whole() -> None:
        pages: dict[str, str] = {}
        made: list[StudioPage] = []
        scripts: list[str] = []
        failed: list[Exception] = []

        async def light() -> bool:
            return False

        def script(code: str, timeout: float = 1.0) -> Any:
            scripts.append(code)
            return light() if "matchMedia" in code else None

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ui, "run_javascript", script)
            async with user_simulation(
                lambda: made.append(StudioPage(Session(source), pages))
            ) as user:
                await user.open("/")
                here = Visit(user, made[0], pages, scripts)
                await here.until(lambda: pages, "no scene of the start")
                try:
                    await play(here)
                except (
                    Exception
                ) as error:  # raised once the page is closed: an exit with one waits for ever
                    failed.append(error)
        if failed:
            raise failed[0]

    asyncio.run(whole())


def test_studio_values_are_edited_undone_and_written_to_text():
    async def play(here: Visit) -> None:
        session = here.session
        here.press("settle")
        await here.hears("no value differs")
        here.fill("parameter-L", "long")
        await here.hears("L: 'long' is not a number")
        here.fill("parameter-L", "-3", "blur")
        await here.hears("parameters.L: found -3, expected a number >= 0")
        assert session.overrides == {}
        here.fill("parameter-L", "2,5")
        assert session.overrides == {"L": 2.5}
        here.press("undo")
        assert session.overrides == {}
        here.press("redo")
        assert session.overrides == {"L": 2.5}
        assert "L,2.5,m," in await here.downloaded(lambda: here.press("export"))
        here.user.find(kind=ui.button, content="restart_alt").click()
        assert session.overrides == {}, "the description's own value was not taken back"
        here.fill("parameter-L", "2")
        here.press("settle")
        await here.hears("the description has the values now")
        assert (
            session.overrides == {}
            and load(Text(session.text, "a.toml")).description.parameters["L"].value == 2.0
        )
        assert "value = 2.0" in here.page.left.editor.value
        here.page.left.search.value = "mass of"
        assert here.user.find(marker="parameter-m") and not here.user._gather_elements(
            marker="parameter-L"
        )

    visit("lib:pendulum", play)


def test_values_come_from_tables():
    def table(text: str) -> Any:
        async def read() -> bytes:
            return text.encode()

        return SimpleNamespace(file=SimpleNamespace(read=read))

    async def play(here: Visit) -> None:
        left = here.page.left
        with here.user:
            await left.take(table("name,value,unit\nL,1500,mm\n"))
            await here.hears("1 values differ from the description")
            await left.take(table("name,value\nLength,1\n"))
            await here.hears("there is no parameter 'Length'")
        assert here.session.overrides == {"L": 1.5}

    visit("lib:pendulum", play)


def test_invalid_text_disables_run(tmp_path: Path):
    async def play(here: Visit) -> None:
        session, editor, good = here.session, here.page.left.editor, here.session.text
        editor.value = good.replace('child = "bob"', 'child = "bop"')
        assert (
            session.problems
            and here.sees("1 error")
            and here.sees("bop")
            and not here.page.go.enabled
        )
        with here.user:
            await here.page.simulate()
        await here.hears("the description has to be mended first")
        editor.value = good
        assert here.sees("OK") and here.page.go.enabled
        here.turn_to("Description")
        here.press("save")
        await here.hears("written: my-pendulum.toml")
        assert Path("my-pendulum.toml").read_text() == good and session.own
        here.fill("file", "other.json")
        here.press("save")
        await here.hears("other.json: the text is TOML, expected a name that ends in .toml")
        assert await here.downloaded(here.page.left.download_text) == good

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        visit("lib:pendulum", play)


def test_studio_opens_other_descriptions(tmp_path: Path):
    async def play(here: Visit) -> None:
        left = here.page.left
        here.turn_to("Open")
        here.fill("path", str(tmp_path / "gone.toml"))
        await here.hears("no such file")
        here.fill("path", "")
        assert here.session.source == "lib:pendulum"
        await here.run()
        here.turn_to("Open")
        here.fill("path", "new:stages")
        await here.until(
            lambda: here.session.source == "new:stages" and not here.session.runs,
            "nothing was opened",
        )
        assert here.session.runs == [] and here.page.shown is None and left.tabs.value is left.first
        await here.until(
            lambda: any("My stages" in page for page in here.pages.values()),
            "no scene of the other mechanism",
        )

    visit("lib:pendulum", play)


def test_studio_inputs_are_fixed_and_released():
    async def play(here: Visit) -> None:
        field = next(each for each in here.page.left.given if each.props["label"] == "omega0")
        for text, kept in (("3,5", {"omega0": 3.5}), ("much", {"omega0": 3.5}), ("", {})):
            field.value = text
            UserInteraction(here.user, {field}, None).trigger("blur")
            assert here.session.inputs == kept
        assert here.told == ["'much' is not a number"]

    visit("lib:regulator", play)


def test_studio_runs_are_viewed_compared_and_downloaded(tmp_path: Path):
    """Stages over time, tables over them, charts, sets of charts, two runs to choose from."""
    path = tmp_path / "stages.toml"
    lost = 'columns = ["nothing*"]\n'
    path.write_text(
        f"{content('stages', 'My stages')}\n[report.tables.lost]\n{lost}[report.plots.lost]\n{lost}"
    )

    async def play(here: Visit) -> None:
        page, session = here.page, here.session
        with here.user:
            await page.download_csv()
        await here.hears("nothing has run yet")
        page.left.end.value = "soon"
        here.press("run")
        await here.hears("stop time: 'soon' is not a number")
        page.left.end.value = ""
        await here.run()
        first = session.runs[0].result
        here.turn_to("Plots")
        plots = page.plots
        assert plots.charts and all(name in first for names in plots.charts for name in names)
        plots.search.value = "no such name"
        assert not list(plots.names)
        plots.search.value = ""
        rows = [each for each in plots.names if "variable" in each.classes]
        name = rows[0].props["data-variable"]
        UserInteraction(here.user, {rows[0]}, None).click()
        assert plots.charts[-1] == [name]
        UserInteraction(here.user, {rows[1]}, None).trigger("dragstart")
        (box,) = [
            each for each in plots.area if each.props["data-chart"] == str(len(plots.charts) - 1)
        ]
        UserInteraction(here.user, {box}, None).trigger("drop.prevent")
        assert plots.charts[-1] == [name, rows[1].props["data-variable"]]
        with here.user:
            plots.remove(len(plots.charts) - 1, name)
            assert plots.charts[-1] == [rows[1].props["data-variable"]]
            plots.keep()
            await here.hears("a set needs a name and a chart")
            plots.title.value = "mine"
            plots.keep()
            await here.hears("[report.plots.mine] is in the description")
            plots.keep()
            await here.hears("there is a set 'mine' already")
            kept = list(plots.charts)
            plots.charts = [["time"]]
            plots.take_set(SimpleNamespace(value="mine"))
        assert plots.charts == [[each] for names in kept for each in names]
        stage = first.stage_names[0]
        plots.stage.value = stage
        begin, end = plots.window()
        assert begin == 0.0 and 0.0 < end < float(first.time[-1])
        with here.user:
            plots.seek_point(SimpleNamespace(data=[0.25, 1.0]))
        assert ".seek(0.25)" in here.scripts[-1] and page.views.value == "Scene"
        here.turn_to("Stages")
        UserInteraction(here.user, here.user.find(marker="stages").elements, None).trigger(
            "rowClick", [{}, {"time": 0.5}]
        )
        assert ".seek(0.5)" in here.scripts[-1]
        here.turn_to("Numbers")
        numbers = page.numbers
        numbers.rows.value = "largest"
        head, *told = csv.reader(io.StringIO(await here.downloaded(numbers.download)))
        assert [row[0] for row in told[: len(first.stage_names)]] == list(
            first.stage_names
        ) and len(head) > 1
        numbers.known.value = "lost"
        assert here.sees("no column 'nothing*'") and numbers.made is None
        with here.user:
            numbers.download()
            plots.take_set(SimpleNamespace(value="lost"))
        await here.hears("nothing*")
        await here.run()
        assert page.chosen.visible and page.shown is session.runs[1]
        page.chosen.value = 1
        await here.until(lambda: page.shown is session.runs[0], "the first run was not shown")
        with here.user:
            answer = await here.downloaded(lambda: background_tasks.create(page.download_csv()))
        assert answer.splitlines()[0].startswith("time")
        await here.until(
            lambda: session.runs[0].page in here.pages.values(), "no scene of the first run"
        )
        assert await here.downloaded(page.download_page) == session.runs[0].page
        with here.user:
            page.turn()
        assert page.is_dark() and page.theme() == "dark" and "theme('dark')" in here.scripts[-1]

    visit(str(path), play)


def test_studio_live_page_uses_present_values(monkeypatch: pytest.MonkeyPatch):
    """Values that were typed are in it, and the end of the run; what cannot be computed is said."""
    from kinetree.fmu import live
    from kinetree.fmu.variables import FmuError

    async def play(here: Visit) -> None:
        before = len(here.pages)
        here.fill("parameter-L", "2,5")
        here.press("live")
        await here.until(
            lambda: any("alive 2.5" in each for each in here.pages.values()), "no page"
        )
        assert len(here.pages) <= before + 1
        monkeypatch.setattr(live, "live_data", refused)
        here.press("live")
        await here.hears("no engine")

    def made(mechanism, stop_time, say):
        return {"name": f"alive {mechanism.overrides['L']}", "bodies": []}

    def refused(mechanism, stop_time, say):
        raise FmuError("no engine")

    monkeypatch.setattr(live, "live_data", made)
    visit("lib:pendulum", play)


def test_studio_finds_equilibrium_and_packs_fmu():
    async def play(here: Visit) -> None:
        here.press("rest")
        here.turn_to("Equilibrium")
        await here.until(lambda: here.sees("stable equilibrium"), "no equilibrium was told")
        assert here.sees("Vibration modes") and here.sees("Joint reactions")
        with here.user:
            await here.downloaded(lambda: background_tasks.create(here.page.pack("python", "2")))
        assert here.user.download.http_responses[-1].content.startswith(b"PK") and here.told == [
            "packing the FMU …"
        ]

    visit("lib:pendulum", play)


def test_parameter_map_is_computed_or_refused():
    async def play(here: Visit) -> None:
        study, told = here.page.study, here.told
        here.turn_to("Map")
        names = [axis[0] for axis in study.axes]
        names[0].value = names[1].value = "L"
        here.press("map-go")
        await here.hears("choose one parameter, or two different ones")
        names[1].value = "m"
        study.axes[1][1].value = study.axes[1][2].value = "1"
        here.press("map-go")
        await here.hears("m: a range needs two different ends")
        names[1].value = "–"
        study.axes[0][3].value = 3
        study.measure.value = "frequency"
        assert not study.column.visible
        here.press("map-go")
        await here.until(lambda: here.sees("3 points in"), "no map")
        assert here.sees("largest: 0.70") and here.sees("at L = 0.5 m")
        assert (await here.downloaded(study.download)).splitlines()[0] == "L [m],frequency"
        low, high = study.axes[0][1:3]
        low.value, high.value = "-1", "1"
        here.press("map-go")
        await here.until(
            lambda: here.sees("2 points in") or here.sees("1 points in"),
            "no map with points left out",
        )
        assert here.sees("L = -1: ")
        assert told[-1] == "m: a range needs two different ends"

    visit("lib:pendulum", play)


def test_chain_page_in_studio():
    async def play(here: Visit) -> None:
        here.turn_to("Structure")
        assert here.sees("A linear chain.")
        await here.run()
        here.turn_to("Map")
        here.press("map-go")
        await here.hears("maps are for mechanisms; a linear chain has its own studies")

    visit("lib:train", play)


@pytest.mark.parametrize(
    ("source", "shown"),
    [("lib:train", "A linear chain."), ("lib:servo-drive", "Inputs: speed, command")],
)
def test_studio_opens_all_kinds_of_mechanisms(source: str, shown: str):
    """The panel of the structure asked `anatomy` for a key that had been renamed: every page failed, seen only by the slow test in a browser."""

    async def play(here: Visit) -> None:
        here.turn_to("Structure")
        assert here.sees(shown) and not here.told
        assert (await here.user.http_client.get("/")).status_code == 200

    visit(source, play)


def test_settings_of_the_library_are_changed_refused_and_taken_back():
    async def play(here: Visit) -> None:
        session = here.session
        assert here.sees("number of rods") and here.sees("1 to 2000 · default 5")
        here.fill("setting-n", "2")
        await here.until(
            lambda: "b3" not in session.mechanism.description.bodies, "an old mechanism"
        )
        assert session.settings == {"n": 2}
        await here.until(lambda: '"b3"' not in here.page.left.editor.value, "an old text")
        await here.until(
            lambda: any("Chain of 2 rods" in each for each in here.pages.values()), "no scene"
        )
        here.fill("setting-n", "9999")
        await here.until(lambda: here.sees("n is 9999"), "the refusal is not in the panel")
        assert session.settings == {"n": 2} and session.problems == []
        (choice,) = here.user.find(marker="setting-freedoms").elements
        choice.value = 3
        await here.until(lambda: session.settings == {"n": 2, "freedoms": 3}, "no other joints")
        await here.until(lambda: not here.sees("n is 9999"), "an old message")
        here.press("undo")
        await here.until(lambda: session.settings == {"n": 2}, "not taken back")
        table = await here.downloaded(lambda: here.press("export"))
        assert "n,2,,number of rods" in table
        here.page.left.editor.value = session.text.replace("Chain of", "Row of")
        here.fill("setting-n", "3")
        await here.until(lambda: here.sees("the description was edited"), "edits were lost")
        here.press("discard-edits")
        await here.until(lambda: "Row of" not in session.text, "the edits are still there")
        assert session.settings == {"n": 2}

    visit("lib:chain", play)


PREPARED = """format = "kinetree/1"
name = "Scales"
gravity = [0, 0, -9.81]
[parameters]
load = 2.0
[bodies.pan]
mass = "1 + load"
inertia = [1, 1, 1, 0, 0, 0]
[joints.guide]
child = "pan"
transforms = [{ shift = "z", coordinate = "height" }]
[forces.spring]
coordinate = "height"
stiffness = 981.0
damping = 10.0
[run]
stop_time = 0.1
[[run.prepare]]
name = "empty"
set = { load = 0 }
[[run.prepare]]
name = "loaded"
"""


def test_every_state_of_the_preparation_is_seen(tmp_path: Path):
    """The pan of a spring sinks by its weight over the stiffness: 10 mm empty, 30 mm loaded."""
    path = tmp_path / "scales.toml"
    path.write_text(PREPARED)

    async def play(here: Visit) -> None:
        here.press("rest")
        panel = here.page.equilibria
        await here.until(lambda: panel.shown == "equilibrium", "no equilibria")
        here.turn_to("Equilibrium")
        heights = {name: rest.coordinates["height"] for name, rest in panel.found.items()}
        assert heights == pytest.approx({"empty": -0.01, "loaded": -0.03, "equilibrium": -0.03})
        for k, name in enumerate(("empty", "loaded")):
            panel.state.value = name
            await here.until(
                lambda k=k: any(f'"first_clip":{k}' in each for each in here.pages.values()),
                f"the state {name} is not in the scene",
            )
        panel.state.value = "all beside each other"

        def compared() -> list[str]:
            tables = [each.rows for each in here.user.find(kind=ui.table).elements]
            rows = [list(rows[0].values()) for rows in tables]
            return next((row[1:4] for row in rows if row[0] == "stability"), [])

        await here.until(lambda: compared() == ["stable"] * 3, "no comparison")
        here.press("see-state")
        assert here.page.views.value == "Scene" and not here.told

    visit(str(path), play)


def test_tree_is_built_step_by_step(tmp_path: Path):
    async def play(here: Visit) -> None:
        page, session = here.page, here.session
        assert any("Nothing to see yet" in each for each in here.pages.values())
        here.turn_to("Build")
        build = page.left.build
        here.press("build-add")
        await here.until(lambda: session.mechanism is not None, "no first body")
        assert list(session.mechanism.description.bodies) == ["body1"]
        page.placed(SimpleNamespace(args={"body": "body1", "point": [0.49, 0.04, 0.01]}))
        assert build.parent.value == "body1" and [each.value for each in build.at] == [
            "0.5",
            "0",
            "0",
        ]
        build.kind.value = "spherical"
        assert not any(field.visible for field in build.axes)
        here.fill("build-mass", "heavy")
        here.press("build-add")
        await here.until(lambda: here.sees("mass: 'heavy' is not a number"), "not refused")
        here.fill("build-mass", "3")
        here.press("build-add")
        await here.until(lambda: "body2" in session.mechanism.description.bodies, "no second body")
        joint = session.mechanism.description.joints["body2_joint"]
        assert (joint.parent, joint.type, joint.at) == ("body1", "spherical", (0.5, 0.0, 0.0))
        here.press("build-undo")
        await here.until(
            lambda: "body2" not in session.mechanism.description.bodies, "not taken back"
        )
        here.press("build-redo")
        await here.until(lambda: "body2" in session.mechanism.description.bodies, "not repeated")
        here.press("build-edit-body2")
        assert not build.name.enabled and build.kind.value == "spherical"
        here.fill("build-mass", "4")
        here.press("build-add")
        await here.until(
            lambda: session.mechanism.description.bodies["body2"].mass == 4.0, "not changed"
        )
        assert build.name.enabled and build.changing == ""
        here.press("build-remove-body2")
        await here.until(
            lambda: "body2" not in session.mechanism.description.bodies, "not taken out"
        )
        here.press("build-save")
        await here.hears("written: my-empty.toml")
        assert load(str(tmp_path / "my-empty.toml")).description.bodies.keys() == {"body1"}

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        visit("new:empty", play)


def test_variables_are_shown_by_other_names():
    async def play(here: Visit) -> None:
        plots = here.page.plots
        await here.run()
        here.turn_to("Plots")
        name = plots.charts[0][0]
        with here.user:
            plots.ask_name(name)
        here.fill("shown-name", "what swings")
        assert here.session.mechanism.description.report.names == {name: "what swings"}
        assert "what swings" in here.page.left.editor.value
        drawn = [each for each in plots.area.descendants() if isinstance(each, ui.echart)]
        assert drawn[0].options["series"][0]["name"].startswith("what swings")
        plots.search.value = "swings"
        assert [each.props["data-variable"] for each in plots.names] == [name]
        here.press("undo")
        await here.until(lambda: "swings" not in here.page.left.editor.value, "not taken back")

    visit("lib:pendulum", play)
