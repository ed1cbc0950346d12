"""Random tree mechanisms: every joint kind, element sequences, given motions, loads; as plain data and as blocks of the kernels."""

import re
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from kinetree.models.engine.entry_points import bind
from kinetree.models.engine.flat_blocks import GROUPS, allocate, model_fields, pack, work_sizes
from kinetree.solvers import layout as L
from kinetree.solvers.literal.block_sparsity import pattern
from kinetree.solvers.model_records import HEADER

DRIVEN = (L.Element.SHIFT_T, L.Element.ROTATE_T)


@dataclass
class Element:
    kind: L.Element
    axis: np.ndarray  # unit axis, or the constant shift
    angle: float = 0.0
    factor: float = 1.0
    q: int = -1
    u: int = -1
    motion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # a sin(b t + c) + d t


@dataclass
class Tree:
    parent: list[int]
    joints: list[list[Element]]
    q_at: list[int]
    u_at: list[int]
    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray  # 3x3 about the centre of mass
    gravity: np.ndarray
    t: float
    q: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    wrench: np.ndarray  # ground axes, about O_i
    extra: np.ndarray  # body axes, about O_i
    name: str = field(default="")

    @property
    def bodies(self) -> int:
        return len(self.parent) - 1

    @property
    def freedoms(self) -> np.ndarray:
        return np.diff(self.u_at)[1:]


def given(motion, t):
    """A given motion at time t, which may be complex."""
    a, b, c, d = motion
    return a * np.sin(b * t + c) + d * t


def random_tree(
    rng: np.random.Generator,
    bodies: int,
    shape: str = "random",
    joint: str = "any",
    massless: bool = False,
) -> Tree:
    """Draw a tree. shape: random, chain, star; joint: any, or the name of one kind; massless: half of the bodies that carry others have no mass."""
    parent = [-1] + [draw_parent(rng, i, shape) for i in range(1, bodies + 1)]
    joints, q_at, u_at, q = [[]], [0, 0], [0, 0], []
    for _ in range(bodies):
        elements, values = draw_joint(
            rng, joint if joint != "any" else str(rng.choice(KINDS)), q_at[-1], u_at[-1]
        )
        joints.append(elements)
        q.extend(values)
        q_at.append(q_at[-1] + len(values))
        u_at.append(u_at[-1] + freedoms(elements))
    count, n = bodies + 1, u_at[-1]
    mass = rng.uniform(0.3, 3.0, count)
    com = rng.normal(0.0, 0.3, (count, 3))
    inertia = np.zeros((count, 3, 3))
    for i in range(count):
        r = rng.normal(0.0, 0.3, (3, 3))
        inertia[i] = r @ r.T + 0.05 * np.eye(3)
    tree = Tree(
        parent,
        joints,
        q_at,
        u_at,
        mass,
        com,
        inertia,
        rng.normal(0.0, 6.0, 3),
        0.7,
        np.array(q, float),
        rng.normal(0.0, 1.0, n),
        rng.normal(0.0, 2.0, n),
        rng.normal(0.0, 2.0, (count, 6)),
        rng.normal(0.0, 2.0, (count, 6)),
    )
    if massless:
        for i in range(1, bodies, 2):
            if i in parent:
                tree.mass[i], tree.inertia[i] = 0.0, 0.0
    return tree


def draw_parent(rng, i, shape):
    if shape == "chain":
        return i - 1
    if shape == "star":
        return 0 if i == 1 else 1
    return int(rng.integers(max(0, i - 1 - int(rng.integers(0, 6))), i))


KINDS = (
    "revolute",
    "prismatic",
    "universal",
    "planar",
    "screw",
    "ball",
    "free",
    "fixed",
    "driven",
    "sequence",
    "sequence",
)


def freedoms(elements):
    seen = set()
    for e in elements:
        if e.kind == L.Element.BALL:
            seen |= {e.u, e.u + 1, e.u + 2}
        elif e.kind == L.Element.FREE:
            seen |= set(range(e.u, e.u + 6))
        elif e.u >= 0:
            seen.add(e.u)
    return len(seen)


def unit(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def constant(rng):
    if rng.random() < 0.5:
        return Element(L.Element.SHIFT, rng.normal(0.0, 0.5, 3))
    return Element(L.Element.ROTATE, unit(rng), angle=float(rng.normal()))


def moving(rng, kind, iq, iu, factor=1.0):
    return Element(kind, unit(rng), factor=factor, q=iq, u=iu)


def driven(rng):
    kind = L.Element.SHIFT_T if rng.random() < 0.5 else L.Element.ROTATE_T
    return Element(kind, unit(rng), motion=tuple(float(x) for x in rng.normal(size=4)))


def draw_joint(rng, kind, iq, iu):
    """Elements and coordinates of a joint."""
    turn, slide = L.Element.ROTATE_Q, L.Element.SHIFT_Q
    before = [constant(rng) for _ in range(int(rng.integers(0, 3)))]
    after = [constant(rng) for _ in range(int(rng.integers(0, 2)))]
    x = [float(v) for v in rng.normal(0.0, 0.7, 7)]
    if kind == "ball":
        return before + [Element(L.Element.BALL, np.array([0.0, 0.0, 1.0]), q=iq, u=iu)] + after, x[
            :4
        ]
    if kind == "free":
        return before + [Element(L.Element.FREE, np.array([0.0, 0.0, 1.0]), q=iq, u=iu)] + after, x
    if kind == "fixed":
        return [*before, constant(rng)], []
    if kind == "driven":
        return before + [driven(rng) for _ in range(int(rng.integers(1, 3)))] + after, []
    if kind == "screw":
        a = moving(rng, turn, iq, iu)
        return [
            *before,
            a,
            constant(rng),
            Element(slide, a.axis, factor=0.3, q=iq, u=iu),
            *after,
        ], x[:1]
    if kind in ("universal", "three"):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        n = 2 if kind == "universal" else 3
        x = [0.3 * v for v in x]  # away from the singular position of three rotations
        return before + [Element(turn, axes[k], q=iq + k, u=iu + k) for k in range(n)] + after, x[
            :n
        ]
    if kind == "planar":
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        e = [
            Element(slide, axes[0], q=iq, u=iu),
            Element(slide, axes[1], q=iq + 1, u=iu + 1),
            Element(turn, axes[2], q=iq + 2, u=iu + 2),
        ]
        return before + e + after, x[:3]
    if kind in ("revolute", "prismatic"):
        return before + [moving(rng, turn if kind == "revolute" else slide, iq, iu)] + after, x[:1]
    return draw_sequence(rng, iq, iu)


def draw_sequence(rng, iq, iu):
    """One to six elements, at most three shifts and three rotations by coordinates about well separated axes."""
    axes = {
        k: list(np.linalg.qr(rng.normal(size=(3, 3)))[0])
        for k in (L.Element.SHIFT_Q, L.Element.ROTATE_Q)
    }
    elements, x = [], []
    for _ in range(int(rng.integers(1, 7))):
        kind = rng.choice(["shift", "turn", "constant", "driven"])
        if kind in ("shift", "turn"):
            code = L.Element.SHIFT_Q if kind == "shift" else L.Element.ROTATE_Q
            if axes[code]:
                elements.append(
                    Element(
                        code,
                        axes[code].pop(),
                        factor=float(rng.uniform(0.5, 1.5)),
                        q=iq + len(x),
                        u=iu + len(x),
                    )
                )
                x.append(float(rng.normal(0.0, 0.25)))
        else:
            elements.append(constant(rng) if kind == "constant" else driven(rng))
    return elements, x


@dataclass
class Instance:
    """A tree in the flat blocks of the kernels, with its fields by name."""

    ints: np.ndarray
    floats: np.ndarray
    work: np.ndarray
    model: SimpleNamespace
    ws: SimpleNamespace

    def call(self, entry: str, option: int = 0) -> int:
        """Run an entry point: of the compiled library when there is one, else jitted."""
        return bind(entry, self.ints, self.floats, self.work)(option, float(self.ws.val[0]))


def instance(tree: Tree, groups=GROUPS) -> Instance:
    """The tree compiled by hand; scratch is NaN, so that what is read before it is written shows."""
    elements = [e for joint in tree.joints for e in joint]
    N, nq, nu, ne = tree.bodies, len(tree.q), len(tree.u), len(elements)
    val = [tree.t, *tree.gravity, *tree.q, *tree.u]
    amount = []
    for e in elements:
        amount.append(len(val) if e.kind in DRIVEN else -1)
        if e.kind in DRIVEN:
            a, b, c, d = e.motion
            s, k = np.sin(b * tree.t + c), np.cos(b * tree.t + c)
            val += [a * s + d * tree.t, a * b * k + d, -a * b * b * s]
    ints = {f.name: np.zeros(0, np.int64) for f in L.MODEL_INTS}
    children = [[j for j in range(1, N + 1) if tree.parent[j] == i] for i in range(N + 1)]
    ints |= {
        "parent": tree.parent,
        "child_at": np.cumsum([0] + [len(c) for c in children]),
        "child": [j for c in children for j in c],
        "joint": [L.Joint.GENERAL] * (N + 1),
        "q_at": tree.q_at,
        "u_at": tree.u_at,
        "e_at": np.cumsum([0] + [len(j) for j in tree.joints]),
        "e_kind": [int(e.kind) for e in elements],
        "e_q": [e.q for e in elements],
        "e_u": [e.u for e in elements],
        "e_amount": amount,
        "u_kind": [L.Column.GENERAL] * nu,
        "u_body": np.repeat(np.arange(N + 1), np.diff(tree.u_at)),
        **pattern(np.array(tree.parent), np.array(tree.u_at)),
    }
    sizes = dict.fromkeys(
        re.findall(r"[a-z]+", " ".join(f.size for f in L.WORK)), 0.0
    )  # no states, inputs, tables, forces, loops
    sizes |= {"N": N, "nq": nq, "nu": nu, "ne": ne, "nr": len(val)}
    sizes |= {"nm": ints["m_at"][-1], "nb": ints["b_at"][-1], "nh": ints["h_at"][-1]}
    header = {"nq": nq, "nu": nu, "gravity": 1, "r_q": 4, "r_u": 4 + nq}
    work = work_sizes({k: float(v) for k, v in sizes.items()}, frozenset(groups) | {"literal"})
    block, floats = pack(
        header,
        ints,
        {f.name: np.zeros(0) for f in L.MODEL_FLOATS} | {"val0": np.array(val, float)},
        work,
    )
    memory, ws = allocate(block, floats)
    ws.q[:], ws.u[:], ws.tau[:], ws.added[:] = tree.q, tree.u, tree.tau, tree.tau
    ws.wrench[:], ws.extra[:] = tree.wrench.ravel(), tree.extra.ravel()
    ws.head.wrench = ws.head.extra = 1.0
    fill_constants(tree, elements, ws)
    model = model_fields(block, floats)
    model.header = HEADER.of(block)
    return Instance(block, floats, memory, model, ws)


def fill_constants(tree: Tree, elements: list[Element], ws: SimpleNamespace) -> None:
    ws.rotor[:] = 0.0
    for e, element in enumerate(elements):
        at = e * L.ELEMENT
        ws.elem[at + L.E_AXIS : at + L.E_AXIS + 3] = element.axis
        ws.elem[at + L.E_FACTOR] = element.factor
        ws.elem_code[e] = 0.0
        ws.elem[at + L.E_MATRIX : at + L.E_MATRIX + 9] = axis_rotation(
            element.axis, element.angle
        ).ravel()
    for i in range(tree.bodies + 1):
        at = i * L.BODY
        m, c = tree.mass[i], tree.com[i]
        J = tree.inertia[i] + m * (c @ c * np.eye(3) - np.outer(c, c))
        ws.body[at + L.B_MASS] = m
        ws.body[at + L.B_H : at + L.B_H + 3] = m * c
        ws.body[at + L.B_J : at + L.B_J + 6] = J[np.triu_indices(3)]


def axis_rotation(a, angle):
    """Matrix of the rotation about a unit vector; the angle may be complex."""
    K = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
