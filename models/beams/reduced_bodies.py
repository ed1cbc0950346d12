"""Flexible bodies reduced to modes: the file that `kinetree flexible` writes, and the bodies and
joints that represent it.

Body NAME is the frame of its root interface. NAME.frame, at the same position, has the mass and the
modal coordinates NAME.mode1, ... Every other interface is a body NAME.INTERFACE that the modes
move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.beams.body_surfaces import skin_in
from kinetree.models.description.schema import Description, JointSpec
from kinetree.models.language.parts.body_parts import Body

SECOND = ("second_shift", "second_moments", "second_turn", "second_faces")
KEYS = ("mass", "S", "P", "stiffness", "interfaces", "points", "shifts", "turns")


def axial(P: np.ndarray) -> np.ndarray:
    """Return Σ φ×ψ from matrices Σ φ ψᵀ in the last two axes; the component is the first axis."""
    return np.array([P[..., a, b] - P[..., b, a] for a, b in ((1, 2), (2, 0), (0, 1))])


@dataclass(frozen=True)
class SecondOrder:
    """Mass integrals over the second-order displacements φ_kl of pairs of modes."""

    shift: np.ndarray  # Σ m φ_kl (n, n, 3)
    moments: np.ndarray  # Σ m x φ_klᵀ, its even part (n, n, 3, 3)
    turn: np.ndarray  # Σ m x×φ_kl (n, n, 3)
    faces: np.ndarray  # φ_kl of the interfaces (c, n, n, 3)


@dataclass(frozen=True)
class Reduced:
    """A reduced body: mass integrals, modal stiffness, and position, mode translations and
    rotations of its interfaces.
    """

    mass: float
    S: np.ndarray  # (n + 1, 3)
    P: np.ndarray  # (n + 1, n + 1, 3, 3)
    stiffness: np.ndarray  # (n,)
    interfaces: tuple[str, ...]
    points: np.ndarray  # (c, 3)
    shifts: np.ndarray  # (c, n, 3)
    turns: np.ndarray  # (c, n, 3)
    second: SecondOrder | None = None
    masses: np.ndarray | None = None  # of the modes (n,), where P is not all of them
    ratios: np.ndarray | None = None  # damping of the modes (n,), where the file has it
    skin: Mapping[str, np.ndarray] = field(default_factory=dict)  # `beams.body_surfaces`

    @property
    def modal_mass(self) -> np.ndarray:
        if self.masses is not None:
            return self.masses
        return np.array([np.trace(self.P[k, k]) for k in range(1, len(self.S))])

    def data(self) -> np.ndarray:
        """Return the data of the frame in the layout of the engine."""
        even = 0.5 * (self.P + np.swapaxes(self.P, 2, 3))
        if self.second is not None:
            even[1:, 1:] += self.second.moments
        trace = np.einsum("abii->ab", even)
        xx, yy, zz = (trace - even[:, :, k, k] for k in range(3))
        J = (xx, -even[:, :, 0, 1], -even[:, :, 0, 2], yy, -even[:, :, 1, 2], zz)
        V = axial(self.P)
        parts = [[self.mass], self.S.T, *J, *V, self.modal_mass]
        if self.second is not None:
            parts += [np.moveaxis(self.second.shift, 2, 0), np.moveaxis(self.second.turn, 2, 0)]
        return np.concatenate([np.ravel(part) for part in parts])

    def face_data(self, k: int) -> np.ndarray:
        """Return the data of interface k in the layout of the engine."""
        parts = [self.points[k], self.shifts[k].T, self.turns[k].T]
        if self.second is not None:
            parts.append(np.moveaxis(self.second.faces[k], 2, 0))
        return np.concatenate([np.ravel(part) for part in parts])


class ReducedBodyError(ValueError):
    """Raised for a file that contains no reduced body."""


@lru_cache(maxsize=32)
def read_reduced(path: str, changed: float) -> Reduced:
    """Read the file that `kinetree flexible` has written; `changed` is its time stamp, for the
    cache.
    """
    try:
        with np.load(path) as file:
            missing = [key for key in KEYS if key not in file]
            if missing:
                raise ReducedBodyError(f"no {', '.join(missing)}")
            stiffened = all(key in file for key in SECOND)
            arrays = {key: file[key] for key in (*KEYS, *(SECOND if stiffened else ()))}
            skin = skin_in(file)
            extra = {key: file[key] for key in ("modal_mass", "ratios") if key in file}
    except (OSError, ValueError) as error:
        raise ReducedBodyError(str(error)) from None
    n, c = len(arrays["stiffness"]), len(arrays["interfaces"])
    shapes = {"S": (n + 1, 3), "P": (n + 1, n + 1, 3, 3), "points": (c, 3)}
    shapes |= {"shifts": (c, n, 3), "turns": (c, n, 3)}
    if stiffened:
        pairs = ((n, n, 3), (n, n, 3, 3), (n, n, 3), (c, n, n, 3))
        shapes |= dict(zip(SECOND, pairs, strict=True))
    for key, shape in shapes.items():
        if arrays[key].shape != shape or not np.isfinite(arrays[key]).all():
            raise ReducedBodyError(
                f"{key} of shape {arrays[key].shape}, not {shape}, or not finite"
            )
    numbers = {key: np.asarray(arrays[key], dtype=float) for key in (*shapes, "stiffness")}
    names = tuple(map(str, arrays["interfaces"]))
    second = SecondOrder(*(numbers.pop(key) for key in SECOND)) if stiffened else None
    return Reduced(
        mass=float(arrays["mass"]),
        interfaces=names,
        second=second,
        skin=skin,
        masses=extra.get("modal_mass"),
        ratios=extra.get("ratios"),
        **numbers,
    )


def found_reduced(description: Description, body: Body) -> Reduced:
    """Return the reduced body of a table, read from a file relative to the description."""
    assert body.flexible is not None
    path = Path(body.flexible.file)
    if not path.is_absolute() and description.file:
        path = Path(description.file).parent / path
    if not path.is_file():
        raise ReducedBodyError(f"no file {body.flexible.file}")
    return read_reduced(str(path), path.stat().st_mtime)


def with_reduced_bodies(description: Description) -> Description:
    """Return the description with every flexible body replaced by a frame and interfaces."""
    names = [name for name, body in description.bodies.items() if body.flexible is not None]
    if not names:
        return description
    bodies, joints = dict(description.bodies), dict(description.joints)
    owners: dict[tuple[str, str], str] = {}
    forms: dict[str, Reduced] = {}
    for name in names:
        try:
            reduced = found_reduced(description, bodies[name])
        except ReducedBodyError:
            continue  # reported by its check
        own_bodies, own_joints = parts_of(name, reduced)
        forms[name] = reduced
        bodies |= own_bodies
        joints |= own_joints
        bodies[name] = bodies[name].model_copy(update={"mass": 0.0, "inertia": None})
        owners |= {("bodies", each): name for each in own_bodies}
        owners |= {("joints", each): name for each in own_joints}
    result = description.model_copy(update={"bodies": bodies, "joints": joints})
    result._reduced, result._modal_parts, result._written = forms, owners, description
    return result


def refuse_reduced(description: Description, what: str) -> None:
    """Raise if a mechanism has reduced bodies; `what` names the feature that does not support them."""
    if description.reduced:
        names = ", ".join(f"'{name}'" for name in description.reduced)
        raise ValueError(
            f"{what}: the modes of {names} are known to the default engine alone; use method auto, or a beam"
        )


def parts_of(name: str, r: Reduced) -> tuple[dict[str, Body], dict[str, JointSpec]]:
    """Return the bodies and joints of one reduced body, without its root."""
    A = r.P[0, 0]
    J = np.trace(A) * np.eye(3) - A
    tensor = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    com = [float(x) for x in r.S[0] / r.mass]
    frame = f"{name}.frame"
    bodies = {
        frame: Body(
            mass=r.mass,
            com=(com[0], com[1], com[2]),
            inertia_at_origin=tuple(map(float, tensor)),
            unphysical=True,
        )
    }
    modes = [
        {"shift": "x", "coordinate": f"{name}.mode{k}"} for k in range(1, len(r.stiffness) + 1)
    ]
    joints = {
        frame: JointSpec.model_validate(
            {"parent": name, "child": frame, "transforms": modes, "cut": False}
        )
    }
    for k, interface in enumerate(r.interfaces):
        face = f"{name}.{interface}"
        bodies[face] = Body(mass=0.0)
        place = [float(x) for x in r.points[k]]
        spec = {"parent": frame, "child": face, "type": "rigid", "at": place, "cut": False}
        joints[face] = JointSpec.model_validate(spec)
    return bodies, joints


def modal_arrays(
    description: Description, bodies: Mapping[str, int], u_at: list[int], q_at: list[int]
) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
    """Return integer records MODAL and FACE, the floating-point data, and the workspace length for
    the bodies of a structure.
    """
    modal: list[int] = []
    faces: list[int] = []
    data: list[np.ndarray] = []
    length, work = 0, 0
    for name, r in description.reduced.items():
        frame = f"{name}.frame"
        if frame not in bodies:
            continue
        n, i = len(r.stiffness), bodies[frame]
        first = len(faces) // 3
        head = [i, q_at[i], u_at[i], n, length, work, first, len(r.interfaces)]
        head.append(int(r.second is not None))
        modal += head
        data.append(r.data())
        length += data[-1].size
        work += n * (n + 7) + 12 * n + 9
        for k, interface in enumerate(r.interfaces):
            faces += [bodies[f"{name}.{interface}"], length, work]
            data.append(r.face_data(k))
            length += data[-1].size
            work += 9 * n
    ints = {"modal": np.array(modal, dtype=np.int64), "faces": np.array(faces, dtype=np.int64)}
    return ints, np.concatenate([np.zeros(0), *data]), work


def modal_pattern(description: Description, joint: str) -> str:
    """Return "MODES" or "FACE" for joints of reduced bodies, else an empty text."""
    owner = description.modal_parts.get(("joints", joint))
    return "" if owner is None else "MODES" if joint == f"{owner}.frame" else "FACE"


def modal_forces(description: Description) -> dict[str, tuple[float, float]]:
    """Return stiffness and damping of every modal coordinate."""
    found: dict[str, tuple[float, float]] = {}
    for name, r in description.reduced.items():
        table: Any = description.written.bodies[name].flexible
        own = None if "damping" in table.model_fields_set else r.ratios
        for k, (stiff, mass) in enumerate(zip(r.stiffness, r.modal_mass, strict=True), 1):
            ratio = float(table.damping if own is None else own[k - 1])
            found[f"{name}.mode{k}"] = (float(stiff), 2.0 * ratio * float(np.sqrt(stiff * mass)))
    return found
