"""The studio's panel that builds a tree: a body, the joint that carries it, and its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from kinetree.models.joints.kinds import KINDS
from kinetree.models.result.number_format import written
from kinetree.scripts.studio.building import (
    AXES,
    GROUND,
    NewBody,
    NewJoint,
    Triple,
    built,
    free_name,
    snapped,
    tables_of,
    with_body,
    with_other,
    without_body,
)
from kinetree.scripts.studio.panels import HEADING, number
from kinetree.scripts.studio.session import Session

NEW_BODY = "a new body"
ENDS = {"end": "end of its longest edge", "middle": "middle"}
LETTERS = ("x", "y", "z")
GRID = "w-full items-center no-wrap gap-2"


class BuildPanel:
    """Fields of the next joint and body, and the list of the bodies that are there."""

    def __init__(
        self,
        session: Session,
        rebuilt: Callable[[], Awaitable[Any]],
        again: Callable[[Callable[[], bool]], Awaitable[Any] | None],
        save: Callable[[], Any],
    ):
        self.session, self.rebuilt, self.again, self.save = session, rebuilt, again, save
        self.problems = ui.column().classes("w-full gap-0").mark("build-problems")
        self.problems.set_visibility(False)
        self.changing = ""  # the body whose fields are shown
        self._joint_fields()
        self._body_fields()
        self._buttons()
        ui.label("Bodies").classes(HEADING)
        self.there = ui.column().classes("w-full gap-0")
        self.kind_chosen()
        self.child_chosen()

    # -- what stands where ----------------------------------------------------------------------
    def _joint_fields(self) -> None:
        ui.label("Joint").classes(HEADING)
        self.kind = ui.toggle(list(KINDS), value="revolute", on_change=self.kind_chosen)
        self.kind.props("no-caps dense unelevated toggle-color=primary").classes("choices w-full")
        self.kind.mark("build-kind")
        self.says = ui.label().classes("text-xs opacity-70")
        with ui.row().classes(GRID):
            self.parent = _choice("on", [GROUND]).mark("build-parent")
            self.child = _choice("carries", [NEW_BODY], self.child_chosen).mark("build-child")
        with ui.row().classes(GRID):
            self.axes = [
                _choice("axis", AXES, value="y").mark("build-axis"),
                _choice("second axis", AXES, value="z"),
            ]
            self.pitch = _field("pitch", "0.01", "m").mark("build-pitch")
        self.at = _triple("place on that body [m]", "build-at")
        with ui.row().classes(GRID):
            ui.label("Click a body of the scene, or the ground, to fill in the place.").classes(
                "text-xs opacity-70 grow"
            )
            self.snap = ui.checkbox("snap", value=True).props("dense").classes("text-xs")
            self.snap.tooltip("to the middle of a face of the body").mark("build-snap")
        with ui.column().classes("w-full gap-1") as self.closing:
            self.child_at = _triple("place on the carried body [m]", "build-child-at")

    def _body_fields(self) -> None:
        with ui.column().classes("w-full gap-1") as self.body:
            ui.label("Body").classes(HEADING)
            with ui.row().classes(GRID):
                self.name = ui.input("name").props("dense outlined").classes("grow min-w-0")
                self.name.mark("build-name")
                self.mass = _field("mass", "1", "kg").mark("build-mass")
            self.box = _triple("box: edges along x, y, z [m]", "build-box", ("0.5", "0.1", "0.1"))
            self.held = ui.select(ENDS, value="end", label="the joint holds it at the")
            self.held.props("dense outlined options-dense").classes("w-full")

    def _buttons(self) -> None:
        with ui.row().classes("w-full items-center gap-2 pt-2"):
            self.go = ui.button("Add", icon="add", on_click=self.add).mark("build-add")
            self.go.props("dense no-caps unelevated").classes("px-3")
            self.leave = ui.button("Cancel", on_click=self.cancel).mark("build-cancel")
            self.leave.props("flat dense no-caps").set_visibility(False)
            for icon, step, told in (
                ("undo", self.session.undo, "take the last change back"),
                ("redo", self.session.redo, "make it again"),
            ):
                ui.button(icon=icon, on_click=lambda _, s=step: self.again(s)).props(
                    f'flat dense round aria-label="{told}"'
                ).mark(f"build-{icon}").tooltip(told)
            ui.button("Save", icon="save", on_click=self.save).props("flat dense no-caps").mark(
                "build-save"
            ).tooltip("to the file that is named under Description")

    # -- what changes ---------------------------------------------------------------------------
    def refresh(self) -> None:
        """Update the bodies that can carry or be carried."""
        bodies = tables_of(self.session.text, "bodies")
        parents = [GROUND, *bodies]
        self.parent.set_options(
            parents, value=self.parent.value if self.parent.value in parents else parents[-1]
        )
        children = [NEW_BODY, *bodies]
        self.child.set_options(
            children, value=self.child.value if self.child.value in children else NEW_BODY
        )
        if self.changing and self.changing not in bodies:
            self.cancel()
        if not self.changing and (not self.name.value or self.name.value in bodies):
            self.name.set_value(free_name("body", bodies))
        joints = tables_of(self.session.text, "joints")
        self.there.clear()
        with self.there:
            for name in bodies:
                held = [
                    f"{label}: {joint.get('type', 'transforms')} on {joint.get('parent', GROUND)}"
                    for label, joint in joints.items()
                    if isinstance(joint, dict) and joint.get("child") == name
                ]
                with ui.row().classes(GRID):
                    ui.label(name).classes("text-sm font-medium")
                    ui.label(", ".join(held)).classes("text-xs opacity-60 grow ellipsis")
                    if (found := self._editable(name)) is not None:
                        change = ui.button(icon="edit", on_click=lambda _, f=found: self.edit(*f))
                        change.props(f'flat dense round size=sm aria-label="change {name}"')
                        change.mark(f"build-edit-{name}")
                    away = ui.button(icon="delete", on_click=lambda _, n=name: self.remove(n))
                    away.props(f'flat dense round size=sm aria-label="remove {name}"')
                    away.mark(f"build-remove-{name}")

    def kind_chosen(self) -> None:
        """Show the fields that the kind of joint needs."""
        kind = KINDS[str(self.kind.value)]
        self.says.set_text(kind.says.replace("`", ""))
        for k, field in enumerate(self.axes):
            field.set_visibility(k < len(kind.axes))
        self.pitch.set_visibility(kind.pitch)

    def child_chosen(self) -> None:
        """Show the fields of a new body, or of the place on one that is there."""
        new = self.child.value == NEW_BODY
        self.body.set_visibility(new)
        self.closing.set_visibility(not new)

    def placed(self, body: str, point: list[float]) -> None:
        """Take over a place that was clicked in the scene."""
        if body not in (self.parent.options or ()):
            return
        self.parent.set_value(body)
        if self.snap.value and body != GROUND:
            point = snapped(tables_of(self.session.text, "bodies")[body], point)
        for field, value in zip(self.at, point, strict=True):
            field.set_value(written(float(value), 6))

    def _editable(self, name: str) -> tuple[NewBody, NewJoint] | None:
        """Return a body with its joint if the fields can show them."""
        found = built(self.session.text, name)
        return found if found and _held_at(found[0]) else None

    def edit(self, body: NewBody, joint: NewJoint) -> None:
        """Show the fields of a body that is there, to change it."""
        self.changing = body.name
        self.child.set_value(NEW_BODY)
        self.kind.set_value(joint.kind)
        self.parent.set_value(joint.parent)
        for field, axis in zip(self.axes, joint.axes, strict=False):
            field.set_value(axis)
        self.name.set_value(body.name)
        self.held.set_value(_held_at(body))
        pairs = [(self.mass, body.mass), (self.pitch, joint.pitch or 0.01)]
        for field, value in (
            *pairs,
            *zip(self.at, joint.at, strict=True),
            *zip(self.box, body.box, strict=True),
        ):
            field.set_value(written(value, 8))
        self._changes(True)

    def cancel(self) -> None:
        """Go back to a new body."""
        self.changing = ""
        self.name.set_value("")
        self._changes(False)
        self.refresh()

    def _changes(self, on: bool) -> None:
        """Show whether a body that is there is changed."""
        self.go.set_text("Change" if on else "Add")
        self.go.props(f"icon={'check' if on else 'add'}")
        self.leave.set_visibility(on)
        self.name.set_enabled(not on)
        self.child.set_enabled(not on)

    # -- work -----------------------------------------------------------------------------------
    async def add(self) -> None:
        """Write the joint and its body into the description; what does not fit is told above."""
        try:
            body, joint = self._next()
            if self.changing and body is not None:
                await self._become(with_other(self.session.text, body, joint))
            else:
                await self._become(with_body(self.session.text, body, joint))
        except ValueError as error:
            self._tell([str(error)])

    async def remove(self, name: str) -> None:
        """Take a body and its joints out of the description."""
        try:
            await self._become(without_body(self.session.text, name))
        except ValueError as error:
            self._tell([str(error)])

    async def _become(self, text: str) -> None:
        problems = self.session.rewrite(text)
        self._tell(problems)
        if not problems:
            if self.changing:
                self.cancel()
            await self.rebuilt()

    def _joint_name(self, child: str) -> str:
        """Return the name of the joint: its own where a body is changed, else a free one."""
        found = built(self.session.text, child) if self.changing else None
        return found[1].name if found else free_joint(self.session.text, child)

    def _tell(self, problems: list[str]) -> None:
        self.problems.clear()
        self.problems.set_visibility(bool(problems))
        with self.problems:
            for text in problems:
                ui.label(text).classes("text-xs text-negative")

    def _next(self) -> tuple[NewBody | None, NewJoint]:
        """Return what the fields say."""
        new = self.child.value == NEW_BODY
        name = str(self.name.value or "").strip() if new else str(self.child.value)
        joint = NewJoint(
            self._joint_name(name),
            str(self.parent.value),
            name,
            str(self.kind.value),
            tuple(str(field.value) for field in self.axes),
            _numbers(self.at, "place"),
            (0.0, 0.0, 0.0) if new else _numbers(self.child_at, "place on the carried body"),
            _number(self.pitch, "pitch"),
        )
        if not new:
            return None, joint
        box = _numbers(self.box, "box")
        centre = _end(box) if self.held.value == "end" else (0.0, 0.0, 0.0)
        return NewBody(name, _number(self.mass, "mass"), box, centre), joint


def _end(box: Triple) -> Triple:
    """Return the centre of a box that begins at its joint and extends along its longest edge."""
    longest = max(range(3), key=lambda k: box[k])
    x, y, z = (box[k] / 2.0 if k == longest else 0.0 for k in range(3))
    return x, y, z


def _held_at(body: NewBody) -> str:
    """Return where a joint holds a box, as the fields have it; nothing where it is elsewhere."""
    return "end" if body.centre == _end(body.box) else "" if any(body.centre) else "middle"


def free_joint(text: str, child: str) -> str:
    """Return a name for a joint that carries a body."""
    joints = tables_of(text, "joints")
    name = f"{child}_joint"
    return name if name not in joints else free_name(name, joints)


def _choice(label: str, options: Any, chosen: Any = None, value: Any = None) -> Any:
    """Return a list to choose from."""
    field = ui.select(
        list(options), value=value or next(iter(options)), label=label, on_change=chosen
    )
    return field.props("dense outlined options-dense").classes("grow min-w-0")


def _field(label: str, value: str, unit: str) -> Any:
    """Return a field of a number."""
    field = ui.input(label, value=value).props(f'dense outlined suffix="{unit}"')
    return field.classes("w-28 shrink-0")


def _triple(title: str, mark: str, values: tuple[str, str, str] = ("0", "0", "0")) -> list[Any]:
    """Return three fields of numbers below a title."""
    ui.label(title).classes("text-xs opacity-70 pt-1")
    with ui.row().classes(GRID):
        return [
            ui.input(letter, value=value)
            .props("dense outlined")
            .classes("grow min-w-0")
            .mark(f"{mark}-{letter}")
            .props(f'data-place="{mark}-{letter}"')
            for letter, value in zip(LETTERS, values, strict=True)
        ]


def _number(field: Any, name: str) -> float:
    """Return the number in a field."""
    try:
        value = number(field.value)
    except ValueError:
        raise ValueError(f"{name}: {field.value!r} is not a number") from None
    if value is None:
        raise ValueError(f"{name}: a number is missing")
    return value


def _numbers(fields: list[Any], name: str) -> Triple:
    """Return the numbers in three fields."""
    x, y, z = (_number(each, f"{name} {k}") for k, each in zip(LETTERS, fields, strict=True))
    return x, y, z
