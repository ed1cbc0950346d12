"""The studio's panel of equilibria: those of the preparation steps, and the one from the start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from kinetree.models.analysis.equilibrium import Equilibrium
from kinetree.models.analysis.equilibrium_table import (
    compared_rows,
    neutral_combination,
    rest_rows,
    shape_of,
)
from kinetree.models.result.number_format import written
from kinetree.scripts.studio.panels import HEADING, plain_table
from kinetree.scripts.studio.session import Session

STABILITY = {"indifferent": "neutrally stable"}  # words of the results -> of the trade
COMPARED = "all beside each other"
HINT = "'Equilibrium' above computes the static equilibrium with its loads and vibration modes."


class EquilibriumPanel:
    """A list of the equilibria, and the values of the chosen one."""

    def __init__(
        self,
        session: Session,
        work: Callable[..., Awaitable[Any]],
        show: Callable[[str], Any],
    ):
        self.session, self.work, self.show = session, work, show
        self.found: dict[str, Equilibrium] = {}
        self.shown = ""
        with ui.row().classes("w-full items-center gap-3"):
            self.state = ui.toggle([], on_change=self.choose).mark("state-of-rest")
            self.state.props("no-caps dense unelevated toggle-color=primary").classes("choices")
            self.see = ui.button("See it in the scene", icon="visibility", on_click=self.visit)
            self.see.props("dense flat no-caps").mark("see-state")
        self.box = ui.column().classes("w-full gap-0")
        self.clear()

    def clear(self) -> None:
        """Remove the equilibria of the previous mechanism."""
        self.found, self.shown = {}, ""
        self.state.set_visibility(False)
        self.see.set_visibility(False)
        self.box.clear()
        with self.box:
            ui.label(HINT).classes("text-sm opacity-70")

    async def compute(self) -> None:
        """Compute all equilibria and show the last one, which starts from the start state."""
        found = await self.work(self.session.equilibria)
        if not found:
            return
        self.clear()
        self.found = found
        names = [*found, *([COMPARED] if len(found) > 1 else [])]
        self.state.set_visibility(len(found) > 1)
        self.see.set_visibility(len(found) > 1)
        self.state.set_options(names, value=list(found)[-1])
        await self.choose()

    async def choose(self, _: Any = None) -> None:
        """Show the values of the chosen equilibrium, and its modes in the scene."""
        name = str(self.state.value or "")
        if not self.found or name == self.shown:
            return
        self.shown = name
        self.box.clear()
        with self.box:
            if name == COMPARED:
                comparison(self.found)
                return
            equilibrium_table(self.found[name])
        html = await self.work(self.session.equilibrium_page, self.found, name)
        if html and self.shown == name:
            self.show(html)

    def visit(self) -> None:
        """Switch to the scene."""
        self.show("")


def comparison(rests: Mapping[str, Equilibrium]) -> None:
    """Show the values of all equilibria, one column each."""
    head = ["", *rests, "unit"]
    judged = ["stability", *(judgement(rest) for rest in rests.values()), ""]
    for title, rows in ({"State": [judged]} | compared_rows(rests)).items():
        ui.label(title).classes(HEADING)
        plain_table(head, rows)
    count = max(len(rest.modes) for rest in rests.values())
    rows = []
    for k in range(count):
        cells = [
            written(rest.modes[k].frequency, 5) if k < len(rest.modes) else ""
            for rest in rests.values()
        ]
        rows.append([f"mode {k + 1}", *cells, "Hz"])
    ui.label("Vibration modes").classes(HEADING)
    plain_table(head, rows)


def judgement(rest: Equilibrium) -> str:
    """Return a text on the stability of an equilibrium."""
    return STABILITY.get(rest.stability, rest.stability)


def equilibrium_table(rest: Equilibrium) -> None:
    """Show the values of an equilibrium as tables."""
    ui.label(f"{judgement(rest)} equilibrium").classes("text-base font-medium").mark("stability")
    for direction in rest.directions:
        text = f"neutral direction (zero stiffness): {neutral_combination(direction)}"
        ui.label(text).classes("text-sm text-warning")
    for title, rows in rest_rows(rest).items():
        ui.label(title).classes(HEADING)
        plain_table(["", "value", "unit"], [list(row) for row in rows])
    if rest.modes:
        ui.label("Vibration modes").classes(HEADING)
        shapes = [
            ", ".join(f"{name} {written(size, 2)}" for name, size in shape_of(rest, mode))
            for mode in rest.modes
        ]
        rows = [
            [f"{written(mode.frequency, 5)} Hz", written(mode.damping, 3), shape]
            for mode, shape in zip(rest.modes, shapes, strict=True)
        ]
        plain_table(["frequency", "damping ratio", "what moves"], rows)
    if rest.reactions:
        ui.label("Joint reactions (force [N], moment [N.m] on the child; its axes)").classes(
            HEADING
        )
        rows = [
            [name, *(written(round(x, 6) + 0.0, 5) for x in wrench)]
            for name, wrench in rest.reactions.items()
        ]
        plain_table(["", "fx", "fy", "fz", "mx", "my", "mz"], rows)
