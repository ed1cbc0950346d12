"""Keyboard shortcuts of the studio, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nicegui import ui

SCENE_NOTE = (
    "The scene has keys of its own: click into it, then ? lists them. On a live page Shift and "
    "dragging pulls a body with a spring, Alt and dragging moves it on its joint."
)


@dataclass(frozen=True)
class Shortcut:
    """A key that triggers an action together with Alt."""

    code: str  # of the key, whatever the keyboard prints there
    shown: str
    text: str
    act: Callable[[], Any]


def listen(shortcuts: list[Shortcut]) -> Callable[[], Any]:
    """Install keyboard shortcuts; return a function that shows their list."""
    by_code = {each.code: each for each in shortcuts}

    def pressed(event: Any) -> Any:
        if not event.action.keydown or event.action.repeat or not event.modifiers.alt:
            return None
        found = by_code.get(event.key.code)
        return found.act() if found else None

    ui.keyboard(pressed, ignore=[])
    with ui.dialog() as dialog, ui.card().classes("gap-2").mark("shortcuts"):
        ui.label("Keys").classes("text-base font-medium")
        with ui.grid(columns="max-content 1fr").classes("gap-x-4 gap-y-1 text-sm"):
            for each in shortcuts:
                ui.label(f"Alt + {each.shown}").classes("font-mono")
                ui.label(each.text)
        ui.label(SCENE_NOTE).classes("text-xs opacity-70 max-w-80")
    return dialog.open
