"""Reduced bodies from files of standard input data (SID), which finite-element programs write for
multibody programs.

A file has nodes with positions and mode shapes, and matrices that are constant or linear in the
modal coordinates. They are defined in O. Wallrapp, Standard input data of flexible members in
multibody systems (1993), and R. Schwertassek, O. Wallrapp, Dynamik flexibler Mehrkörpersysteme
(1999):

    mdCM = S, J = inertia tensor, Ct = S_k, Cr = C_k, Me, Ke, De: mass, stiffness and damping of the modes, Oe: -ωᵀy_k ω by the products of ω

with the names of `solvers/engine/modal_bodies.py`. Gr and Ge follow from these. The frame is moved
to the root node, and modes are made orthogonal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg as sl

from kinetree.models.beams.reduction import ReductionError

ENTRY = re.compile(r"m([01])\s*\(([\d\s,]+)\)\s*=\s*(\S+)", re.IGNORECASE)
SETTING = re.compile(r"(order|nrow|ncol|nq|nqn|structure)\s*=\s*(\d+)", re.IGNORECASE)
NODE = re.compile(r"new\s+node\s*=\s*(\S+)", re.IGNORECASE)
NAMED = re.compile(r"(mass|nelastq)\s*=\s*(\S+)", re.IGNORECASE)
OF_BODY = ("mdcm", "j", "ct", "cr", "me", "gr", "ge", "oe", "ksigma", "ke", "de")
OF_NODE = ("origin", "phi", "psi", "ap", "sigma")
NEEDED = ("mdcm", "j", "ct", "cr", "me", "oe", "ke")
SYMMETRIC = 2  # structure: entries below the diagonal stand for those above
PAIRS = ((0, 1), (1, 2), (0, 2)), ((0, 1), (0, 2), (1, 2))  # orders of mixed products of ω
STILL = 1e-9  # of shapes whose largest displacement is about 1
FITS = 1e-4  # of the largest number: Oe at rest is that of J


@dataclass
class Series:
    """A matrix m0 and its derivatives m1 by the modal coordinates."""

    settings: dict[str, int] = field(default_factory=dict)
    entries: list[tuple[tuple[int, ...], float]] = field(default_factory=list)

    def arrays(self, rows: int, columns: int, modes: int) -> tuple[np.ndarray, np.ndarray]:
        """Return m0 (rows, columns) and m1 (rows, columns, modes)."""
        m0, m1 = np.zeros((rows, columns)), np.zeros((rows, columns, modes))
        symmetric = self.settings.get("structure") == SYMMETRIC
        for place, value in self.entries:
            target = m0 if len(place) == 2 else m1
            try:
                target[tuple(k - 1 for k in place)] = value
                if symmetric:
                    target[(place[1] - 1, place[0] - 1, *(k - 1 for k in place[2:]))] = value
            except IndexError:
                raise ReductionError(f"entry {place} in a matrix of {rows} by {columns}") from None
        return m0, m1


@dataclass
class StandardInput:
    """The content of a SID file: mass [kg], number of modes, matrices of the body, matrices of
    every node.
    """

    mass: float = 0.0
    modes: int = 0
    body: dict[str, Series] = field(default_factory=dict)
    nodes: dict[str, dict[str, Series]] = field(default_factory=dict)


def read_standard_input(text: str) -> StandardInput:
    """Return the content of a SID file (standard input data) from its text."""
    found = StandardInput()
    place: dict[str, Series] = found.body
    series: Series | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip().lower()
        try:
            if match := NODE.match(words):
                place = found.nodes.setdefault(match[1], {})
            elif words in ("end node", "end frame"):
                place = found.body
            elif words in OF_BODY or (words in OF_NODE and place is not found.body):
                series = place.setdefault(words, Series())
            elif words.startswith("end "):
                series = None
            elif match := NAMED.match(words):
                if match[1] == "mass":
                    found.mass = float(match[2].replace("d", "e"))
                else:
                    found.modes = int(match[2])
            elif series is not None and (match := SETTING.match(words)):
                series.settings[match[1]] = int(match[2])
            elif series is not None and (match := ENTRY.match(words)):
                indices = tuple(int(each) for each in match[2].split(","))
                series.entries.append((indices, float(match[3].replace("d", "e"))))
        except ValueError:
            raise ReductionError(f"line {number}: {line.strip()!r} has no number") from None
    missing = [name for name in NEEDED if name not in found.body]
    if missing or found.modes < 1 or found.mass <= 0.0:
        raise ReductionError(
            f"standard input data without {', '.join(missing) or 'mass or nelastq'}"
        )
    if not found.nodes:
        raise ReductionError("standard input data without nodes")
    return found


def reduced_of(source: StandardInput, faces: Mapping[str, str], root: str) -> dict[str, Any]:
    """Return the arrays of a reduced body; `faces` gives node numbers by interface name."""
    nodes = {name: place_of(source, node) for name, node in faces.items()}
    if root not in nodes:
        raise ReductionError(f"no face '{root}' for the root")
    fields, second = invariants(source)
    fields, second = about_root(source, fields, second, nodes[root])
    n = source.modes
    Me, Ke, De = (source.body.get(name, Series()).arrays(n, n, n)[0] for name in ("me", "ke", "de"))
    if moves(nodes[root]):
        Me = np.einsum("abii->ab", fields[1])[1:, 1:]
    try:
        values, T = sl.eigh(Ke, Me)
    except (sl.LinAlgError, ValueError):
        raise ReductionError("Me is no mass matrix: it has to be positive") from None
    if values[0] <= 0.0:
        raise ReductionError("Ke does not hold the body at its root")
    others = [name for name in faces if name != root]
    own = nodes[root]
    moved = {name: relative(nodes[name], own) for name in others}
    reach = np.max(
        [np.abs(shift @ T).max(axis=0) for _, shift, _, _ in moved.values()], axis=0, initial=0.0
    )
    T = T / np.where(reach > 0.0, reach, 1.0)
    whole: np.ndarray = np.eye(n + 1)
    whole[1:, 1:] = T
    S, P = fields
    masses = np.einsum("ak,ab,bk->k", T, Me, T)
    stiffness = np.einsum("ak,ab,bk->k", T, Ke, T)
    damping = np.einsum("ak,ab,bk->k", T, De, T)
    found = {
        "mass": source.mass,
        "S": whole.T @ S,
        "P": np.einsum("ac,bd,abij->cdij", whole, whole, P),
        "stiffness": stiffness,
        "modal_mass": masses,
        "frequencies": np.sqrt(stiffness / masses) / (2.0 * np.pi),
        "ratios": damping / (2.0 * np.sqrt(stiffness * masses)),
        "interfaces": np.array(others),
        "points": np.array([moved[name][0] for name in others]).reshape(-1, 3),
        "shifts": np.array([(moved[name][1] @ T).T for name in others]).reshape(-1, n, 3),
        "turns": np.array([(moved[name][2] @ T).T for name in others]).reshape(-1, n, 3),
        "root": own[0],
    }
    if second is not None:
        turned = [np.einsum("ac,bd,ab...->cd...", T, T, each) for each in second]
        bends = [np.einsum("ac,bd,iab->cdi", T, T, moved[name][3]) for name in others]
        found |= {
            "second_shift": turned[0],
            "second_moments": np.zeros((n, n, 3, 3)),
            "second_turn": turned[1],
            "second_faces": np.array(bends).reshape(-1, n, n, 3),
        }
    return found


def place_of(source: StandardInput, node: str) -> tuple[np.ndarray, ...]:
    """Return position, mode translations (3, n), mode rotations (3, n) and second-order
    translations (3, n, n) of a node.
    """
    if node not in source.nodes:
        known = ", ".join(list(source.nodes)[:12])
        raise ReductionError(f"no node '{node}'; nodes: {known}")
    own, n = source.nodes[node], source.modes
    origin, slopes = own.get("origin", Series()).arrays(3, 1, n)
    phi, bend = own.get("phi", Series()).arrays(3, n, n)
    shifts = phi if "phi" in own else slopes[:, 0]
    return origin[:, 0], shifts, own.get("psi", Series()).arrays(3, n, n)[0], bend


def moves(root: tuple[np.ndarray, ...]) -> bool:
    """Return whether a node has a mode translation or rotation that is not zero."""
    return max(np.abs(root[1]).max(), np.abs(root[2]).max()) > STILL


def relative(node: tuple[np.ndarray, ...], root: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return the motion of a node relative to a root node that moves with the modes."""
    x = node[0] - root[0]
    carried = root[1] + np.cross(root[2], x[:, None], axis=0)
    return x, node[1] - carried, node[2] - root[2], node[3]


Fields = tuple[np.ndarray, np.ndarray]


def invariants(source: StandardInput) -> tuple[Fields, Fields | None]:
    """Return S (n + 1, 3), P (n + 1, n + 1, 3, 3), and the second-order sums if the file has them."""
    n, body = source.modes, source.body
    center, _ = body["mdcm"].arrays(3, 1, n)
    J0, J1 = body["j"].arrays(3, 3, n)
    Ct, bend = body["ct"].arrays(n, 3, n)
    Cr, slope = body["cr"].arrays(n, 3, n)
    tensors = np.zeros((n + 1, n + 1, 3, 3))
    tensors[0, 0] = J0
    tensors[0, 1:] = tensors[1:, 0] = 0.5 * np.moveaxis(J1, 2, 0)
    tensors[1:, 1:] = pair_tensors(body["oe"], tensors[0, 1:], n)
    across = np.zeros((n + 1, n + 1, 3))
    across[0, 1:] = Cr
    across[1:, 0] = -Cr
    slope = np.moveaxis(slope, 2, 0)  # [l, k] of V_lk + W_kl
    across[1:, 1:] = 0.5 * (slope - np.swapaxes(slope, 0, 1))
    turn = 0.5 * (slope + np.swapaxes(slope, 0, 1))
    shift = np.moveaxis(bend, 1, 2)
    P = 0.5 * np.einsum("abii->ab", tensors)[..., None, None] * np.eye(3) - tensors
    for a, b, axis in ((1, 2, 0), (2, 0, 1), (0, 1, 2)):
        P[..., a, b] += 0.5 * across[..., axis]
        P[..., b, a] -= 0.5 * across[..., axis]
    size = max(np.abs(turn).max(), np.abs(shift).max())
    fields = np.vstack([center.T, Ct]), P
    return fields, (shift, turn) if size > 1e-12 * max(np.abs(Ct).max(), source.mass) else None


def pair_tensors(Oe: Series, known: np.ndarray, n: int) -> np.ndarray:
    """Return the tensors J_kl from the derivatives of Oe; sign and order of its columns are chosen
    so that Oe of the undeformed body agrees with J.
    """
    m0, m1 = Oe.arrays(n, 6, n)
    if not np.any(m1):
        raise ReductionError("Oe is constant, which leaves the inertia of the modes out: order 1")
    best, chosen = np.inf, (1.0, PAIRS[0])
    for sign in (1.0, -1.0):
        for pairs in PAIRS:
            rest = np.array(
                [[J[0, 0], J[1, 1], J[2, 2], *(2 * J[p] for p in pairs)] for J in known]
            )
            error = np.abs(m0 + sign * rest).max()
            if error < best:
                best, chosen = error, (sign, pairs)
    if best > FITS * max(np.abs(m0).max(), np.abs(known).max(), 1e-300):
        raise ReductionError("Oe at rest is not that of J")
    sign, pairs = chosen
    found = np.zeros((n, n, 3, 3))
    for axis in range(3):
        found[:, :, axis, axis] = -sign * m1[:, axis]
    for column, (a, b) in enumerate(pairs, 3):
        found[:, :, a, b] = found[:, :, b, a] = -0.5 * sign * m1[:, column]
    return 0.5 * (found + np.swapaxes(found, 0, 1))


def about_root(
    source: StandardInput, fields: Fields, second: Fields | None, root: tuple[np.ndarray, ...]
) -> tuple[Fields, Fields | None]:
    """Return the sums for positions relative to the root node, and for modes without the root's
    motion.
    """
    (S, P), n = fields, source.modes
    at, shifts, turns, _ = root
    if second is not None and moves(root):
        raise ReductionError("a root that moves with the modes beside stiffening: hold it there")
    # every field is changed to φ + A + B x: with A, B of the places -root and nothing, of the modes minus the root's motion
    A, B = np.zeros((n + 1, 3)), np.zeros((n + 1, 3, 3))
    A[0] = -at
    for k in range(n):
        x, y, z = turns[:, k]
        B[k + 1] = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        A[k + 1] = -shifts[:, k] - B[k + 1] @ at
    mass = source.mass
    moved = S + mass * A + B @ S[0]
    own = P + np.einsum("ai,bj->abij", A, S) + np.einsum("ai,bj->abij", S, A)
    own += mass * np.einsum("ai,bj->abij", A, A)
    own += np.einsum("aik,bkj->abij", B, P[0]) + np.einsum("aik,bjk->abij", P[:, 0], B)
    own += np.einsum("aik,kl,bjl->abij", B, P[0, 0], B)
    carried = B @ S[0]
    own += np.einsum("ai,bj->abij", carried, A) + np.einsum("ai,bj->abij", A, carried)
    if second is not None:
        second = second[0], second[1] - np.cross(at, second[0])
    return (moved, own), second
