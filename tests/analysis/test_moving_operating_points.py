"""Small motions about moving states under velocity constraints: discs, blades, trailers, a bicycle, against closed forms and published numbers."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.models import load
from kinetree.models.analysis.linearization import Linear
from kinetree.models.analysis.operating_point import linear_at_time
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.local_coordinates import Chart, Evaluation
from kinetree.models.system.system import System
from kinetree.scripts import cli

g, R, MASS = 9.81, 0.2, 1.3
BICYCLE = Path(__file__).parents[2] / "examples/bicycle/bicycle.toml"
BENCHMARK = (
    -14.078389692798221,
    -0.775341882195845 - 4.464867713788230j,
    -0.775341882195845 + 4.464867713788230j,
    -0.322866429004087,
)
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837


def about_start(system: System, **how) -> Linear:
    q, u = system.start()
    return system.linearize(q=q, u=u, **how)


def moving(linear: Linear) -> np.ndarray:
    """Eigenvalues that are not of drifts."""
    values = linear.eigenvalues
    return np.sort_complex(values[np.abs(values) > 1e-6])


def disc(A: float, C: float, lean: float = 0.0, turn: float = 0.0, spin: float = 0.0) -> System:
    """A disc of mass 1.3 kg and radius 0.2 m with moments of inertia A across and C along its axis."""
    joint = [
        *({"shift": axis, "coordinate": axis} for axis in "xy"),
        {"shift": "z", "coordinate": "z", "start": R * math.cos(lean)},
        {"rotate": "z", "coordinate": "heading", "speed": turn},
        {"rotate": "x", "coordinate": "lean", "start": lean, "speed": 0.0},
        {"rotate": "y", "coordinate": "spin", "speed": spin},
    ]
    return load(
        {
            "gravity": [0, 0, -g],
            "bodies": {"disc": {"mass": MASS, "inertia": [A, C, A, 0, 0, 0]}},
            "joints": {"j": {"child": "disc", "transforms": joint}},
            "couplings": {"wheel": {"rolling": {"body": "disc", "radius": R, "axis": "y"}}},
            "outputs": {"side": {"value": "force('wheel.across')"}, "across": {"value": "der(y)"}},
        }
    ).compile()


@pytest.mark.parametrize(
    ("shape", "part"), [((0.25, 0.5), 1 / 3), ((0.5, 1.0), 1 / 4)], ids=["disc", "ring"]
)
def test_rolling_disc_stability_matches_routh(shape: tuple[float, float], part: float):
    """λ² = m g r/(A + m r²) - C (C + m r²) ω²/(A (A + m r²)): stable where v² > g r/3, a thin ring g r/4 (Routh 1905, art. 244)."""
    mr2 = MASS * R * R
    A, C = shape[0] * mr2, shape[1] * mr2
    for factor in (0.5, 0.99, 1.01, 3.0):
        spin = math.sqrt(factor * part * g / R)
        linear = about_start(disc(A, C, spin=spin))
        assert (len(linear.coordinates), len(linear.speeds), linear.changing) == (5, 3, {})
        square = MASS * g * R / (A + mr2) - C * (C + mr2) * spin**2 / (A * (A + mr2))
        assert (square < 0.0) == (factor > 1.0)
        found = moving(linear)
        assert found**2 == pytest.approx([square, square], rel=1e-9)
        assert np.abs(linear.eigenvalues).min() == 0.0 and linear.A.shape == (8, 8)


@pytest.mark.parametrize(("alpha", "turn"), [(1.2, 1.5), (0.6, 4.0), (1.9, -2.0)])
def test_eigenvalues_of_disc_rolling_in_a_circle_match_routh(alpha: float, turn: float):
    """Steady rolling on a circle: the swing of Routh's three equations in α, W = precession and w = spin about the axis, by hand.

    (A + mr²) α̈ = A W² sin α cos α - (C + mr²) w W sin α - m g r cos α, A sin α Ẇ = (C w - 2 A W cos α) α̇, (C + mr²) ẇ = m r² W sin α α̇.
    """
    mr2 = MASS * R * R
    A, C = 0.25 * mr2, 0.5 * mr2
    s, c = math.sin(alpha), math.cos(alpha)
    w = (A * turn * turn * s * c - MASS * g * R * c) / ((C + mr2) * turn * s)
    linear = about_start(disc(A, C, lean=math.pi / 2 - alpha, turn=turn, spin=w - turn * c))
    by_alpha = A * turn**2 * (c * c - s * s) - (C + mr2) * w * turn * c + MASS * g * R * s
    by_turn, by_spin = 2 * A * turn * s * c - (C + mr2) * w * s, -(C + mr2) * turn * s
    square = (
        by_alpha
        + by_turn * (C * w - 2 * A * turn * c) / (A * s)
        + by_spin * mr2 * turn * s / (C + mr2)
    ) / (A + mr2)
    assert moving(linear) ** 2 == pytest.approx([square, square], rel=1e-8)
    assert not {"der(heading)", "der(lean)", "der(spin)"} & set(linear.changing)


@pytest.mark.parametrize(("ahead", "speed"), [(0.4, 3.0), (-0.4, 3.0), (0.4, -3.0)])
def test_sleigh_eigenvalue_matches_closed_form(ahead: float, speed: float):
    """Chaplygin's sleigh, its centre of mass `ahead` of the blade: (J + m a²) ω̇ = -m a v ω, so that λ = -m a v/(J + m a²) beside drifts."""
    J = 0.2
    sled = {"mass": MASS, "com": [ahead, 0, 0], "inertia": [0.1, 0.1, J, 0, 0, 0]}
    joint = [
        {"shift": "x", "coordinate": "x", "speed": speed},
        {"shift": "y", "coordinate": "y"},
        {"rotate": "z", "coordinate": "turn"},
    ]
    d = {
        "bodies": {"sled": sled},
        "joints": {"j": {"child": "sled", "transforms": joint}},
        "couplings": {"b": {"blade": {"body": "sled", "normal": "y"}}},
    }
    linear = about_start(load(d).compile())
    assert moving(linear) == pytest.approx(
        [-MASS * ahead * speed / (J + MASS * ahead**2)], rel=1e-10
    )
    row = linear.A[linear.states.index("y")]
    assert dict(zip(linear.states, row, strict=True)) == pytest.approx(
        {name: speed if name == "turn" else 0.0 for name in linear.states}, abs=1e-12
    )


@pytest.mark.parametrize(("speed", "angle"), [(2.0, 0.0), (-2.0, 0.0), (1.5, 0.3)])
def test_trailer_eigenvalue_changes_sign_when_reversing(speed: float, angle: float):
    """angle' = -v sin(angle)/L - v tan(steer)/b: λ = -v/L, which reversing makes a growth; rows follow the speed and a filtered steering."""
    bar, base = 3.0, 2.7
    system = load("lib:trailer").compile(speed_0=speed, angle_0=angle)
    linear = about_start(system, outputs=("angle", "der(heading)"))
    assert linear.speeds == () and linear.coordinates == ("x", "y", "heading", "angle")
    rows = dict(zip(linear.states, linear.A, strict=True))
    expected = {
        "x": [0, 0, 0, 0, 1, 0, 0],
        "y": [0, 0, speed, 0, 0, 0, 0],
        "heading": [0, 0, 0, 0, 0, speed / base, 0],
        "angle": [
            0,
            0,
            0,
            -speed * math.cos(angle) / bar,
            -math.sin(angle) / bar,
            -speed / base,
            0,
        ],
    }
    for name, row in expected.items():
        assert rows[name] == pytest.approx(np.array(row), abs=1e-10), name
    assert linear.C[1] == pytest.approx(rows["heading"], abs=1e-10)
    assert np.abs(linear.eigenvalues + speed * math.cos(angle) / bar).min() < 1e-9


def test_given_states_are_used_at_a_moving_operating_point():
    """A set speed among the states that are given: speeds follow it, not its start."""
    linear = about_start(load("lib:trailer").compile(angle_0=0.0), states={"speed": 4.0})
    assert linear.moving["der(x)"] == pytest.approx(4.0) and np.real(
        moving(linear)
    ).max() == pytest.approx(-4.0 / 3.0, rel=1e-9)


@pytest.mark.parametrize("speed", [0.5, 3.0, WEAVE, 5.0, CAPSIZE, 9.0])
def test_bicycle_eigenvalues_match_benchmark(speed: float):
    """The benchmark of Meijaard, Papadopoulos, Ruina, Schwab (2007): M q̈ + v C q̇ + (g K0 + v² K2) q = f in lean and steer, matrices as published."""
    M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
    K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
    K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
    C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
    linear = about_start(load(BICYCLE).compile(v=speed))
    assert (len(linear.coordinates), len(linear.speeds), linear.changing) == (7, 3, {})
    back = np.linalg.inv(M)
    published = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-back @ (g * K0 + speed**2 * K2), -back @ (speed * C1)]]
    )
    kept = [linear.states.index(name) for name in ("lean", "steer", "der(lean)", "der(steer)")]
    found = linear.A[np.ix_(kept, kept)]
    turned = np.diag(
        [1.0, -1.0, 1.0, -1.0]
    )  # they steer to the right; matrices have fifteen digits
    assert turned @ found @ turned == pytest.approx(published, rel=1e-9, abs=1e-9)
    assert linear.B[kept, 0] == pytest.approx(
        turned @ np.concatenate(([0.0, 0.0], back @ [0.0, -1.0])), rel=1e-9
    )
    others = [k for k in range(len(linear.states)) if k not in kept]
    assert not linear.A[np.ix_(kept, others)].any(), "lean and steer depend on nothing else"
    if speed == 5.0:
        assert moving(linear) == pytest.approx(np.array(BENCHMARK), rel=1e-9)
    worst = float(np.real(moving(linear)).max())
    if speed == WEAVE:
        swing = moving(linear)[np.imag(moving(linear)) > 0.0]
        assert swing.size == 1 and abs(swing[0].real) < 1e-8
    assert (worst < 1e-8) == (WEAVE <= speed <= CAPSIZE)


def beside(
    evaluation: Evaluation, linear: Linear, q: np.ndarray, u: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The state on the constraints whose independent places and speeds are z further, by Newton's method; plain coordinates."""
    system, x = evaluation.system, evaluation.start_x
    p = len(linear.coordinates)
    free_q = [system.coordinates.index(name) for name in linear.coordinates]
    free_u = [system.speeds.index(name) for name in linear.speeds]
    q, u = q.copy(), u.copy()
    q[free_q] += z[:p]
    u[free_u] += z[p:]
    for level, values, free in ((0, q, free_q), (1, u, free_u)):
        bound = np.setdiff1d(np.arange(values.size), free)
        for _ in range(4 * bool(bound.size)):
            J = np.column_stack(
                [
                    evaluation.residuals(1, q, column, x) - evaluation.residuals(1, q, 0.0 * u, x)
                    for column in np.eye(u.size)[bound]
                ]
            )
            live = (
                np.abs(evaluation.residuals(0, q + 1e-3, u, x)) > 0.0 if level == 0 else slice(None)
            )  # rows of speeds have no places
            values[bound] -= np.linalg.lstsq(
                J[live], evaluation.residuals(level, q, u, x)[live], rcond=None
            )[0]
    return q, u


@pytest.mark.parametrize("source", ["lib:rolling-disc", "lib:snakeboard", str(BICYCLE)])
def test_constraint_columns_match_rate_differences(source: str):
    """Any moving state, steady or not: A against differences of the rates of neighbours on the constraints, h² = 1e-8 of their curvature."""
    system = load(source).compile()
    q, u = system.start()
    q, u = system.project(0.0, q, u + 0.4)
    linear, evaluation = system.linearize(0.0, q, u), Evaluation(system, 0.0)
    assert len(linear.coordinates) > len(linear.speeds)
    free_q = [system.coordinates.index(name) for name in linear.coordinates]
    free_u = [system.speeds.index(name) for name in linear.speeds]

    def rates(z: np.ndarray) -> np.ndarray:
        place, speeds = beside(evaluation, linear, q, u, z)
        return np.concatenate((speeds[free_q], system.accelerations(0.0, place, speeds)[free_u]))

    h, size = 1e-4, linear.A.shape[0]
    near = np.column_stack([(rates(h * e) - rates(-h * e)) / (2 * h) for e in np.eye(size)])
    assert linear.A == pytest.approx(near, abs=1e-6 * np.abs(linear.A).max())


def test_linearised_bicycle_follows_its_simulation():
    """Steady motion: the states after 0.2 s depend on those before as exp(A t) does; steps of rk4 leave 1e-9, differences h² = 1e-8."""
    system = load(BICYCLE).compile()
    q, u = system.start()
    linear, evaluation = system.linearize(0.0, q, u), Evaluation(system, 0.0)
    free_q = [system.coordinates.index(name) for name in linear.coordinates]
    free_u = [system.speeds.index(name) for name in linear.speeds]
    steps, dt, h = 20, 0.01, 1e-4

    def later(z: np.ndarray) -> np.ndarray:
        state = np.concatenate(beside(evaluation, linear, q, u, z))
        n = q.size

        def rate(state: np.ndarray) -> np.ndarray:
            return np.concatenate((state[n:], system.accelerations(0.0, state[:n], state[n:])))

        for _ in range(steps):
            a = rate(state)
            b = rate(state + 0.5 * dt * a)
            c = rate(state + 0.5 * dt * b)
            state = state + dt / 6 * (a + 2 * b + 2 * c + rate(state + dt * c))
        return np.concatenate((state[:n][free_q], state[n:][free_u]))

    flow = np.column_stack(
        [(later(h * e) - later(-h * e)) / (2 * h) for e in np.eye(linear.A.shape[0])]
    )
    exact = expm(linear.A * steps * dt)
    assert flow == pytest.approx(exact, abs=1e-5 * np.abs(exact).max())


def cart(relation: str) -> System:
    """A pendulum of 0.7 m on a cart that a relation drives by an input."""
    bodies = {
        "cart": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]},
        "bob": {"mass": 1.0, "com": [0, 0, -0.7], "inertia": [0.0] * 6},
    }
    joints = {
        "rail": {"child": "cart", "transforms": [{"shift": "x", "coordinate": "x"}]},
        "pin": {
            "parent": "cart",
            "child": "bob",
            "transforms": [{"rotate": "y", "coordinate": "swing"}],
        },
    }
    outputs = {
        "angle": {"value": "swing"},
        "thrust": {"value": "force('drive')"},
        "place": {"value": "x"},
    }
    d = {
        "gravity": [0, 0, -g],
        "bodies": bodies,
        "joints": joints,
        "couplings": {"drive": relation},
        "inputs": {"a": 0.0},
        "outputs": outputs,
    }
    return load(d).compile()


def test_linearised_response_to_coupling_inputs_matches_formula():
    """l swing'' + g swing = x'' about y: responses to a set place and a set speed are s²/(l s² + g) and s/(l s² + g), by states without rates."""
    omega = np.array([0.5, 2.0, 7.0])
    s = 1j * omega
    for relation, power in (("x - a", 2), ("der(x) - a", 1)):
        linear = cart(relation).linearize()
        found = linear.part(["a"], ["angle", "place"]).response(omega)[:, :, 0]
        assert found[:, 0] == pytest.approx(s**power / (0.7 * s * s + g), rel=1e-9), relation
        assert found[:, 1] == pytest.approx(s ** (power - 2), rel=1e-9), relation
        with pytest.raises(ValueError, match="'thrust' depends on how fast the input 'a' changes"):
            linear.part(["a"], ["thrust"])
        with pytest.raises(
            ValueError,
            match="constraints follow 'a'"
            if power == 2
            else "as many speeds as coordinates, found 1 and 2",
        ):
            linear.linear_chain(0.01)


def test_equilibrium_is_refused_if_couplings_prescribe_speeds():
    """A trailer that its drive pulls does not rest; with no speed it does."""
    with pytest.raises(
        EvaluationError, match=r"no equilibrium: velocity constraints require der\(x\) = 2"
    ):
        load("lib:trailer").compile().equilibrium()
    rest = load("lib:trailer").compile(speed_0=0.0).equilibrium()
    assert rest.coordinates["angle"] == pytest.approx(0.2) and not rest.linear.moving


def test_constraint_tangent_excludes_driven_coordinates():
    """Rows that move by themselves are no part of the tangent: places that a relation drives do not go along with anything."""
    chart = Chart(cart("x - 0.3*t"), 0.0, np.zeros(2))
    assert chart.T == pytest.approx(
        np.array([[0.0], [1.0]]), abs=1e-12
    ) and chart.independent.tolist() == [1]


def test_linearize_reports_moving_state(capsys: pytest.CaptureFixture):
    """Text and data say that it moves, how the counts differ, whether it is steady; margins leave aside how far it has come."""

    def told(*arguments: str) -> str:
        assert cli.main(["linearize", *arguments]) == 0
        return capsys.readouterr().out

    text = told(str(BICYCLE), "--at", "start", "--margins", "--outputs", "lean_angle")
    assert (
        "about a moving state: der(rear_turn) = 16.67" in text
        and "7 places and 3 speeds are free" in text
    )
    assert "not a steady state" not in text and "not seen by" not in text
    found = json.loads(told("lib:rolling-disc", "--at", "0.2", "--json"))
    assert (
        len(found["states"]) == 8
        and found["moving"]["der(spin)"] > 10.0
        and "der(lean)" in found["changing"]
    )
    assert any("not a steady state" in line for line in found["said"])
    rest = json.loads(told("lib:pendulum", "--json"))
    assert rest["moving"] == {} and rest["changing"] == {}


def test_contacts_at_a_time_are_refused():
    """Boxes that lie on one another at an instant of a run do not fall freely beside it."""
    with pytest.raises(
        ValueError,
        match="small motions of 'Falling stack of 4 blocks': contacts .* open, close and slide",
    ):
        linear_at_time(load("lib:falling-stack").compile(), 0.1)


def test_loop_ignores_states_without_influence():
    """Of ten states of the bicycle four matter to the steering: its loop without any gain is stable at 5 m/s, as eigenvalues of 0 do not count."""
    part = about_start(load(BICYCLE).compile()).part(["torque"], ["steer_angle"])
    loop = part.seen()
    assert (len(part.A), len(loop.A)) == (10, 4) and np.linalg.eigvals(loop.A).real.max() < 0.0
    omega = np.array([0.3, 4.0, 30.0])
    assert loop.response(omega) == pytest.approx(part.response(omega), rel=1e-9)
