"""Conversion of kernel status codes to exceptions that name what went wrong and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.solvers.layout import Loop, Status
from kinetree.solvers.records import Named

if TYPE_CHECKING:
    from kinetree.models.result.result import Result

CLOSED = 1e-9  # gap below which a loop is closed [m or rad]
TURNS = 3  # number of the first rotation among the directions of a joint


class EvaluationError(ArithmeticError):
    """Raised if the equations of motion have no solution at a state, or the integration cannot
    continue.
    """

    def __init__(self, message: str, status: Status):
        super().__init__(message)
        self.status = status
        self.result: Result | None = None  # what a run had computed until then

    def __reduce__(self):
        """Return how to rebuild the error in another process: from its text and status, without the
        run.
        """
        return type(self), (str(self), self.status)


def message(status: int, head: Named, compiled: Compiled, gap: float = 0.0) -> str:
    """Return a one-line message for a status code; `gap` is the residual [m or rad] of a loop that
    cannot be closed.
    """
    item = int(head.item)
    bodies = compiled.bodies + compiled.twins
    body = bodies[item - 1] if 0 < item <= len(bodies) else "?"
    texts = {
        Status.SINGULAR_JOINT: without_inertia(body, compiled),
        Status.NOT_A_NUMBER: "a value is not a finite number",
        Status.STEP_TOO_SMALL: "the step size fell below the resolution of time: the motion is singular, or a force is discontinuous",
        Status.NO_CONVERGENCE: "an iteration did not converge",
        Status.TOO_MANY_STEPS: "too many steps",
        Status.SINGULAR_BODY: f"body '{body}' has no invertible mass matrix, which this method needs",
        Status.ROTOR: f"speed '{compiled.speeds[item]}' drives a rotor, for which the forms of the first kind (LGR) have no place: take another one"
        if 0 <= item < len(compiled.speeds)
        else "rotors of motors",
        Status.INCONSISTENT: open_loop(item, compiled, gap),
        Status.DEAD_POINT: f"{loop_of(item, compiled)} stands at a dead point: its parts can begin to move and cannot go on "
        "(first-order mobile, second-order rigid), so that its forces have no bound; change dimensions or start values",
        Status.CHATTERING: accumulating(item, compiled),
        Status.NO_CONTACT_FORCE: f"{contact_of(item, compiled)}: rigid bodies with Coulomb friction admit no force there, or several "
        "(paradox of Painlevé): less friction, or a force element of kind contact, which yields",
        Status.PENETRATES: f"{contact_of(item, compiled)}: the bodies overlap where the motion begins, or where an event has put them: "
        "change start values or what the event sets",
        Status.DRIVEN_TOGETHER: f"{contact_of(item, compiled)}: given motions, or loops that hold all else, drive the bodies into each other, and "
        "nothing gives way: end that motion there, or take a force element of kind contact, which yields",
        Status.BLOCK_FAILED: "a predictive controller finds no finite plan: the predicted motion diverges, or its weights and limits "
        "are no finite numbers; a shorter step, more parts of it or a shorter horizon may help",
        Status.ESTIMATE_FAILED: "an observer finds no finite estimate: the motion of its model diverges, or its loops do not close; "
        "a shorter period, closer starts or less noise on what is estimated may help",
        Status.SLIDING: "the rate of a state jumps back and forth, so that no step is small enough",
        Status.CANNOT_SET: f"an event cannot set '{register_name(item, compiled)}', which the constraints and what else is set determine",
    }
    return texts.get(Status(status), f"status {status}")


def accumulating(guard: int, compiled: Compiled) -> str:
    """Return the message for a guard whose events accumulate without end (chatter)."""
    if not 0 <= guard < len(compiled.guards):
        return "events accumulate"
    text = f"events accumulate (chattering): {compiled.guards[guard]}"
    if compiled.contacts and any(name.endswith(".mode1") for name in compiled.coordinates):
        return (
            f"{text}; where a rigid contact rubs on a body of modes, its friction changes between rest and slip faster than can be followed: "
            "give that contact as a force element of kind contact"
        )
    return text


def without_inertia(body: str, compiled: Compiled) -> str:
    """Return the message for a body that has no inertia along a degree of freedom of its joint."""
    text = f"body '{body}' has no inertia along a freedom of its joint"
    if f"{body}.mode1" in compiled.coordinates:
        return (
            f"{text}: it bends so far that what its terms of second order cut off is more than what its root sees; "
            "reduce it without --second-order, cut it into several bodies, or take a beam"
        )
    return f"{text} (massless end body or locked position)"


def contact_of(number: int, compiled: Compiled) -> str:
    """Return the name of a contact from its index."""
    return (
        f"contact '{compiled.contacts[number]}'"
        if 0 <= number < len(compiled.contacts)
        else "a contact"
    )


def loop_of(row: int, compiled: Compiled) -> str:
    """Return the name of the joint or coupling of a constraint row."""
    fields = model_fields(compiled.ints, compiled.floats)
    k = int(np.searchsorted(fields.l_row, row, side="right")) - 1
    if not 0 <= k < len(compiled.loops):
        return "a loop"
    return (
        f"the loop through joint '{compiled.loops[k]}'"
        if fields.l_kind[k] != Loop.COUPLING
        else f"the coupling '{compiled.loops[k]}'"
    )


def register_name(register: int, compiled: Compiled) -> str:
    """Return the name of the coordinate or speed in a register."""
    return next(
        (
            name
            for name in (*compiled.speeds, *compiled.coordinates)
            if compiled.registers.get(name) == register
        ),
        "?",
    )


def open_loop(row: int, compiled: Compiled, gap: float = 0.0) -> str:
    """Return the message for a loop or coupling that cannot be closed, with its gap [m or rad] if
    known.
    """
    rows = model_fields(compiled.ints, compiled.floats).l_row
    k = int(np.searchsorted(rows, row, side="right")) - 1
    if not 0 <= k < len(compiled.loops):
        return "the loop constraints cannot be satisfied"
    if model_fields(compiled.ints, compiled.floats).l_kind[k] == Loop.COUPLING:
        return f"the coupling '{compiled.loops[k]}' cannot be satisfied"
    part = model_fields(compiled.ints, compiled.floats).l_part[row]
    body = int(model_fields(compiled.ints, compiled.floats).l_axes[k])
    axes = f"axes of '{(*compiled.bodies, *compiled.twins)[body - 1]}'" if body else "ground axes"
    direction = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")[part]
    much = f" by {abs(gap):.3g} {'m' if part < TURNS else 'rad'}" if abs(gap) > CLOSED else ""
    place = f"{direction} ({axes})"
    if part >= TURNS and model_fields(compiled.ints, compiled.floats).l_kind[k] != Loop.WELD:
        place = "a rotation that the joint does not let"
    return (
        f"the loop at joint '{compiled.loops[k]}' stays open in {place}{much}: "
        "no position closes it; change dimensions or start values"
    )


def check_status(status: int, head: Named, compiled: Compiled, gap: float = 0.0) -> None:
    """Raise an error for any status but OK; `gap` is the residual [m or rad] of a loop that cannot
    be closed.
    """
    if status != Status.OK:
        raise EvaluationError(message(status, head, compiled, gap), Status(status))
