"""The studio's panel of settings, which determine the bodies, drives and modules of a generated
mechanism.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from kinetree.models.library.argument_checks import Argument
from kinetree.models.result.number_format import written
from kinetree.scripts.studio.panels import HEADING, number
from kinetree.scripts.studio.session import Session

Work = Callable[..., Awaitable[Any]]


class SettingsPanel:
    """One field per setting, and the error of the last change."""

    def __init__(self, session: Session, work: Work, rebuilt: Callable[[], Awaitable[Any]]):
        self.session, self.work, self.rebuilt = session, work, rebuilt
        self.problems: list[str] = []
        self.box = ui.column().classes("w-full gap-2 pb-2").mark("settings")

    def refresh(self, wanted: str = "") -> None:
        """Show the settings whose name or meaning contains all searched words."""
        self.box.clear()
        words = wanted.lower().split()
        rows = {
            name: row
            for name, row in self.session.present_settings().items()
            if all(word in f"{name} {row[0].text}".lower() for word in words)
        }
        self.box.set_visibility(bool(rows))
        with self.box:
            if not rows:
                return
            ui.label("Settings").classes(HEADING)
            for text in self.problems:
                ui.label(text).classes("text-xs text-negative").mark("settings-problem")
            if self.problems and self.session.edited:
                ui.button("Discard the edits", on_click=self.discard).props(
                    "flat dense no-caps"
                ).mark("discard-edits")
            for name, (argument, value) in rows.items():
                self._row(name, argument, value)
            ui.label("Parameters").classes(HEADING)

    def _row(self, name: str, argument: Argument, value: float) -> None:
        with ui.row().classes("w-full items-center no-wrap gap-2"):
            with ui.column().classes("grow gap-0 min-w-0"):
                ui.label(name).classes("text-sm font-medium")
                ui.label(told(argument)).classes("text-xs opacity-60")
            choices = choices_of(argument)
            if argument.words == ("off", "on"):
                field: Any = ui.switch(value=bool(value)).props("dense")
                field.on_value_change(lambda: self.change(name, float(field.value)))
            elif choices:
                field = ui.select(choices, value=int(value)).props("dense outlined options-dense")
                field.classes("w-36 shrink-0").on_value_change(
                    lambda: self.change(name, float(field.value))
                )
            else:
                field = ui.input(value=written(value, 8)).classes("w-36 shrink-0")
                field.props(f'dense outlined input-class="text-right" suffix="{argument.unit}"')
                for leave in ("keydown.enter", "blur"):
                    field.on(leave, lambda: self.typed(name, value, field.value))
            field.mark(f"setting-{name}").props(f'aria-label="{name}" data-setting="{name}"')
            if name in self.session.settings:
                back = ui.button(icon="restart_alt", on_click=lambda: self.change(name, None))
                back.props('flat dense round size=sm title="back to the default"')

    async def typed(self, name: str, value: float, text: Any) -> None:
        """Apply a typed value if it has changed."""
        try:
            given = number(text)
        except ValueError:
            ui.notify(f"{name}: {text!r} is not a number", type="negative")
            return
        if given != value:
            await self.change(name, given)

    async def change(self, name: str, value: float | None) -> None:
        """Generate the mechanism with a changed setting; show an error above the settings."""
        before = dict(self.session.settings)
        problems = await self.work(self.session.set, name, value)
        self.problems = problems or []
        await self._show(self.session.settings != before)

    async def discard(self) -> None:
        """Discard manual edits of the text."""
        self.problems = await self.work(self.session.discard_edits) or []
        await self._show(not self.problems)

    async def _show(self, changed: bool) -> None:
        self.refresh()
        if changed:
            await self.rebuilt()


def told(argument: Argument) -> str:
    """Return the meaning of a setting with its range and default."""
    range_of = ""
    if not choices_of(argument) and argument.least is not None:
        least = written(argument.least)
        range_of = (
            f"at least {least}" if argument.most is None else f"{least} to {written(argument.most)}"
        )
    default = argument.default or 0.0
    words, first = argument.words, argument.least or 0.0
    named = words[int(default - first)] if words else written(default)
    return " · ".join(filter(None, (argument.text, range_of, f"default {named}")))


def choices_of(argument: Argument) -> dict[int, str]:
    """Return the allowed values of a setting with few values, with their meanings."""
    if argument.words:
        first = int(argument.least or 0)
        return {first + k: f"{first + k}: {word}" for k, word in enumerate(argument.words)}
    return {}
