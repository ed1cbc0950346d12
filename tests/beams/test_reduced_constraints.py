"""Reduced bodies in loops, couplings and contacts, beside dense matrices of their points."""

from pathlib import Path

import numpy as np
import pytest
from bricks import bar
from dense_bodies import DenseBodies, along, slopes, turn
from scipy.spatial.transform import Rotation

from kinetree.models import load
from kinetree.models.beams.reduction import reduce_body, save_reduced, scalar_mass
from kinetree.models.engine.status import EvaluationError

LENGTH = 2.0
LINK = np.array([[0.1, 0.2, 0], [0.3, -0.1, 0.2], [-0.2, 0.1, 0.5], [0.1, 0.3, 0.9]])
SHARES = np.array([0.5, 1.0, 0.8, 0.7])


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    """A soft bar in a file, its arrays and its mass matrix."""
    K, M, nodes = bar(LENGTH, 0.06, 0.1, (6, 1, 1), 2e8, 0.3, 1000.0)
    ends = {"root": 0.0, "mid": 1.0, "tip": LENGTH}
    faces = {k: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9) for k, x in ends.items()}
    arrays = reduce_body(K, M, nodes, faces, "root", 2)
    path = tmp_path_factory.mktemp("soft") / "bar.npz"
    save_reduced(path, arrays)
    return path, arrays, scalar_mass(M).toarray()


def linked(path: Path, **more) -> dict:
    """The bar on a hinge with a link at its tip."""
    com = SHARES @ LINK / SHARES.sum()
    J = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(SHARES, LINK, strict=True))
    tensor = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return {
        "format": "kinetree/1",
        "name": "linked",
        "bodies": {
            "bar": {"flexible": {"file": str(path), "damping": 0.03}},
            "link": {
                "mass": float(SHARES.sum()),
                "com": com.tolist(),
                "inertia_at_origin": [float(x) for x in tensor],
                "unphysical": True,
            },
        },
        "joints": {
            "root": {"child": "bar", "type": "revolute", "axis": "y", "coordinates": ["luff"]},
            "tip": {
                "parent": "bar.tip",
                "child": "link",
                "type": "revolute",
                "axis": "y",
                "coordinates": ["swing"],
            },
        },
        "outputs": {"energy": {"quantity": "energy"}},
    } | more


class Linked:
    """The same by points: coordinates luff, modes, swing."""

    def __init__(self, arrays, mass, system):
        self.a, self.system = arrays, system
        self.n = len(arrays["stiffness"])
        whole = np.zeros((len(mass) + len(LINK),) * 2)
        whole[: len(mass), : len(mass)] = mass
        whole[len(mass) :, len(mass) :] = np.diag(SHARES)
        inertia = np.einsum("sik,st,tik->k", arrays["shapes"], mass, arrays["shapes"])
        damping = 2 * 0.03 * np.sqrt(arrays["stiffness"] * inertia)
        names = ["luff", *(f"bar.mode{k}" for k in range(1, self.n + 1)), "swing"]
        self.q_at = [system.coordinates.index(name) for name in names]
        self.u_at = [system.speeds.index(f"der({name})") for name in names]

        def loads(y, u):
            found = -arrays["stiffness"] * y[1:-1] - damping * u[1:-1]
            return np.concatenate(([0.0], found, [0.0]))

        self.dense = DenseBodies(self.places, whole, loads, np.array([0, 0, -9.81]))

    def frames(self, y):
        """Rotation of the bar, place and rotation of an interface by number, and those of the link."""
        R = turn(np.array([0, y[0], 0]))
        q = y[1:-1]
        faces = [
            (R @ (p + shift.T @ q), R @ turn(twist.T @ q))
            for p, shift, twist in zip(
                self.a["points"], self.a["shifts"], self.a["turns"], strict=True
            )
        ]
        d, T = faces[list(self.a["interfaces"]).index("tip")]
        return R, q, faces, d, T @ turn(np.array([0, y[-1], 0]))

    def places(self, y):
        R, q, _, d, T = self.frames(y)
        return np.concatenate(((self.a["nodes"] + self.a["shapes"] @ q) @ R.T, d + LINK @ T.T))

    def compare(self, held, seed: int, attitude=None):
        """A random state that meets the constraints has the same accelerations here and there; `attitude` is that of a ball named `back`."""
        rng = np.random.default_rng(seed)
        y, u = 0.02 * rng.standard_normal(self.n + 2), rng.standard_normal(self.n + 2)
        y, u = self.dense.closed(y, u, held)
        q, speeds = np.zeros(len(self.system.coordinates)), np.zeros(self.system.n)
        q[self.q_at], speeds[self.u_at] = y, u
        if attitude and "back.qw" in self.system.coordinates:
            R, rate = attitude(y), along(attitude, y, u).reshape(3, 3)
            first = self.system.coordinates.index("back.qw")
            x, y3, z, w = Rotation.from_matrix(R).as_quat()
            q[first : first + 4] = w, x, y3, z
            spin = R.T @ rate
            first = min(set(range(self.system.n)) - set(self.u_at))
            speeds[first : first + 3] = spin[2, 1], spin[0, 2], spin[1, 0]
        found = self.system.accelerations(0.0, q, speeds)[self.u_at]
        expected = self.dense.accelerations(y, u, held)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-4)


def test_closed_loop_with_reduced_body_matches_dense_matrices(soft):
    path, arrays, mass = soft
    d = linked(path)
    pivot = np.array([LENGTH + 0.1, 0.0, 1.0])
    d["joints"]["back"] = {
        "child": "link",
        "type": "spherical",
        "at": pivot.tolist(),
        "child_frame": [{"shift": [0, 0, 1]}],
        "cut": True,
    }
    system = load(d).compile()
    twin = Linked(arrays, mass, system)

    def held(y):
        *_, p, T = twin.frames(y)
        return p + T @ np.array([0, 0, 1.0]) - pivot

    for seed in range(2):
        twin.compare(held, seed, lambda y: twin.frames(y)[-1])


def test_interfaces_in_one_loop_and_modal_couplings_match_dense_matrices(soft):
    path, arrays, mass = soft
    d = linked(path)
    pivot = np.array([1.0, 0.0, 0.0])
    d["joints"]["back"] = {
        "child": "bar.mid",
        "type": "spherical",
        "at": pivot.tolist(),
        "cut": True,
    }
    d["couplings"] = {"gear": {"value": "swing - 2*luff - 3*bar.mode1"}}
    system = load(d).compile()
    twin = Linked(arrays, mass, system)
    mid = list(arrays["interfaces"]).index("mid")

    def held(y):
        return np.append(twin.frames(y)[2][mid][0] - pivot, y[-1] - 2 * y[0] - 3 * y[1])

    twin.compare(held, 3, lambda y: twin.frames(y)[2][mid][1])


def impact(twin: Linked, held, u: np.ndarray, restitution: float) -> np.ndarray:
    """Speeds after an impact without friction at the start position, of dense matrices."""
    y = np.zeros(u.size)
    M, _ = twin.dense.matrices(y, u)
    J = slopes(held, y)
    answer = np.linalg.solve(M, J.T)
    return u - answer @ np.linalg.solve(J @ answer, (1.0 + restitution) * J @ u)


def test_impact_at_an_interface_matches_dense_matrices(soft):
    path, arrays, mass = soft
    d = linked(path, gravity=[0, 0, 0])
    d["joints"]["root"]["speed"] = 1.0  # turns the tip down
    foot = {"body": "bar.tip", "point": [0, 0, -0.05], "at": [0, 0, -0.05 - 2e-8]}
    d["contacts"] = {"foot": {**foot, "restitution": 0.4}}
    system = load(d).compile()
    twin = Linked(arrays, mass, system)
    tip = list(arrays["interfaces"]).index("tip")

    def held(y):
        place, R = twin.frames(y)[2][tip]
        return (place + R @ np.array([0, 0, -0.05]))[2:]

    before = np.zeros(twin.n + 2)
    before[0] = 1.0
    expected = impact(twin, held, before, 0.4)
    result = system.simulate(2e-8, output_step=2e-8, tolerance=1e-9)
    found = [result[name][-1] for name in np.array(system.speeds)[twin.u_at]]
    assert found == pytest.approx(expected, rel=2e-4, abs=1e-4)
    lost = result["energy"][0] - result["energy"][-1]
    assert lost > 0.0


def test_reduced_bar_comes_to_rest_on_a_contact(soft):
    path, arrays, _ = soft
    d = linked(path)
    d["bodies"]["bar"]["flexible"]["damping"] = 0.3
    d["joints"]["tip"] = {"parent": "bar.tip", "child": "link", "type": "rigid"}
    foot = {"body": "bar.tip", "point": [0, 0, -0.05], "at": [0, 0, -0.06]}
    d["contacts"] = {"foot": foot}
    d["outputs"]["load"] = "foot.force"
    result = load(d).compile().simulate(4.0, output_step=0.1, tolerance=1e-6)
    first = arrays["S"][0][0] + SHARES @ (
        LENGTH + LINK[:, 0]
    )  # moment of the masses about the root
    assert result["load"][-1] == pytest.approx(9.81 * first / LENGTH, rel=5e-3)
    assert np.all(np.diff(result["energy"]) < 1e-6)


def test_friction_that_a_rigid_contact_cannot_follow_is_named_and_the_advice_works(tmp_path: Path):
    K, M, nodes = bar(1.0, 0.06, 0.1, (6, 1, 1), 2.1e11, 0.3, 7850.0)
    ends = {"root": 0.0, "tip": 1.0}
    faces = {k: np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9) for k, x in ends.items()}
    save_reduced(tmp_path / "bar.npz", reduce_body(K, M, nodes, faces, "root", 2))
    root = {"child": "bar", "type": "free", "start": [0, 0, 0.01, 1, 0, 0, 0]}
    d = {
        "format": "kinetree/1",
        "name": "dropped",
        "bodies": {"bar": {"flexible": {"file": str(tmp_path / "bar.npz"), "damping": 0.01}}},
        "joints": {"root": root},
        "run": {"stop_time": 0.1, "output_step": 0.01},
    }
    feet = {"near": {"body": "bar"}, "far": {"body": "bar.tip"}}
    feet = {name: {**foot, "radius": 0.005, "friction": 0.3} for name, foot in feet.items()}
    rigid = {name: {**foot, "restitution": 0.0} for name, foot in feet.items()}
    with pytest.raises(EvaluationError, match="force element"):
        load(d | {"contacts": rigid}).compile().simulate()
    yields = {"kind": "contact", "stiffness": 1e7, "damping": 1e3}
    d["forces"] = {name: foot | yields for name, foot in feet.items()}
    d["outputs"] = {"height": {"quantity": "position", "body": "bar.tip", "axis": "z"}}
    assert load(d).compile().simulate()["height"][-1] == pytest.approx(0.005, abs=1e-3)


def test_locking_a_joint_of_a_reduced_body_is_a_plastic_impact(soft):
    path, arrays, mass = soft
    d = linked(path, gravity=[0, 0, 0])
    d["joints"]["root"]["speed"] = 1.0
    d["joints"]["tip"]["speed"] = -2.0
    d["stages"] = [
        {"name": "loose", "lock": ["tip"], "ends": {"at": 1e-6}},
        {"name": "stiff"},
    ]
    system = load(d).compile()
    twin = Linked(arrays, mass, system)
    before = np.zeros(twin.n + 2)
    before[0], before[-1] = 1.0, -2.0
    expected = impact(twin, lambda y: y[-1:], before, 0.0)
    result = system.simulate(2e-6, output_step=1e-6, tolerance=1e-9)
    names = [name for name in np.array(system.speeds)[twin.u_at] if "swing" not in name]
    found = [result[name][-1] for name in names]
    assert found == pytest.approx(expected[:-1], rel=1e-3, abs=1e-2)


def test_releasing_a_joint_of_a_reduced_body_keeps_velocities(soft):
    path, *_ = soft
    d = linked(path)
    d["stages"] = [{"name": "held", "free": ["tip"], "ends": {"at": 0.1}}, {"name": "loose"}]
    result = load(d).compile().simulate(0.2, output_step=0.01, tolerance=1e-8)
    damped = load(linked(path)).compile().simulate(0.1, output_step=0.01, tolerance=1e-8)
    assert result["energy"][:11] == pytest.approx(damped["energy"], abs=1e-4)
    assert np.abs(np.diff(result["energy"][9:13])).max() < 0.05


def test_run_gradient_with_reduced_body_matches_differences(soft):
    path, *_ = soft
    d = linked(path, parameters={"place": 0.3})
    inertia = [0.05, 0.1, 0.1, 0, 0, 0]
    d["bodies"]["link"] = {"mass": 2.0, "com": ["place", 0.0, 0.1], "inertia": inertia}
    d["outputs"]["z"] = {"quantity": "position", "body": "bar.tip", "axis": "z"}

    def run(place):
        how = {"output_step": 0.01, "integrator": "rk4", "step": 5e-4}
        return load(d).compile(place=place).simulate(0.02, **how)

    slope = run(0.3).gradient("z", ["place"])[0]
    difference = (run(0.3 + 1e-4)["z"][-1] - run(0.3 - 1e-4)["z"][-1]) / 2e-4
    assert slope == pytest.approx(difference, rel=1e-5)


def test_velocity_jump_of_the_root_excites_modes(soft):
    path, arrays, mass = soft
    d = linked(path, gravity=[0, 0, 0])
    del d["bodies"]["link"], d["joints"]["tip"]
    moved = {"child": "bar", "transforms": [{"shift": "z", "by": "0.2*max(0, t - 0.01)"}]}
    d["joints"]["root"] = moved
    result = load(d).compile().simulate(0.01 + 1e-7, output_step=0.01 + 1e-7, tolerance=1e-9)
    inertia = np.einsum("sik,st,tik->k", arrays["shapes"], mass, arrays["shapes"])
    for k, expected in enumerate(-0.2 * arrays["S"][1:, 2] / inertia, 1):
        assert result[f"der(bar.mode{k})"][-1] == pytest.approx(expected, rel=1e-3, abs=1e-5)
