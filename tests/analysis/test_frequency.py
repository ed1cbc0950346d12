"""Frequency responses, margins, modes and zeros of linear systems against closed formulas, and of mechanisms against time."""

import json
import math

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.models import load
from kinetree.models.analysis.frequency_response import Margins, StateSpace, margins
from kinetree.models.analysis.modal import mode_facts, transmission_zeros, unreachable_modes
from kinetree.models.analysis.operating_point import linear_at_rest, linear_at_time
from kinetree.models.analysis.sampled_loops import held_plant
from kinetree.scripts import cli
from kinetree.scripts.reports.linear_text import sentence_of, show

NONE = np.zeros((1, 1))


def third_order(gain: float) -> StateSpace:
    """gain/(s (s + 1) (s + 2))."""
    return StateSpace(
        np.array([[0, 1, 0], [0, 0, 1], [0, -2, -3.0]]),
        np.array([[0], [0], [1.0]]),
        np.array([[gain, 0, 0]]),
        NONE,
    )


def test_gain_and_phase_margin_of_a_third_order_loop():
    """The phase is 180° at ω = √2, where |L| = gain/6; Routh: stable below a gain of 6."""
    for gain in (0.5, 2.0, 5.0):
        found = margins(third_order(gain))
        assert (
            found.stable
            and found.gain == pytest.approx(6.0 / gain, rel=1e-9)
            and found.gain_at == pytest.approx(math.sqrt(2), rel=1e-9)
        )
        w = found.phase_at
        assert gain / (w * math.hypot(w, 1) * math.hypot(w, 2)) == pytest.approx(1.0, rel=1e-9)
        assert found.phase == pytest.approx(
            90.0 - math.degrees(math.atan(w) + math.atan(w / 2)), abs=1e-8
        )
        assert found.delay == pytest.approx(math.radians(found.phase) / w, rel=1e-9)
    above = margins(third_order(12.0))
    assert not above.stable and above.gain_below == pytest.approx(0.5, rel=1e-9)


def test_delay_margin_is_where_the_loop_becomes_unstable():
    """Judged by the turns of 1 + L, an integrator in the loop included."""
    loop = third_order(2.0)
    delay = margins(loop).delay
    assert margins(loop, delay=0.99 * delay).stable and not margins(loop, delay=1.01 * delay).stable


def test_conditionally_stable_loop_has_a_lower_gain_margin():
    """L = g/(s - 1) is stable for g > 1 only: a margin below, none above; modulus and disk by hand.

    |1 + L|² = ((g - 1)² + ω²)/(1 + ω²) is least at 0 for g < 2; (S - T)/2 = (s - 1 - g)/(2 (s - 1 + g)) is largest at 0 for g > 1.
    """
    g = 1.5
    found = margins(
        StateSpace(np.eye(1), np.eye(1), g * np.eye(1), NONE), np.geomspace(1e-6, 1e3, 2000)
    )
    assert found.stable and found.gain == np.inf
    assert found.gain_below == pytest.approx(1.0 / g, rel=1e-12), "reached at zero frequency"
    assert found.modulus == pytest.approx(g - 1.0, rel=1e-6)
    assert found.disk == pytest.approx(2 * (g - 1) / (1 + g), rel=1e-6)


def test_loop_is_stable_within_its_disk_margin():
    """Loops changed by the promised gain alone, or turned by the promised phase alone, are stable; there is a change a little larger that is not."""
    loop = third_order(2.0)
    found = margins(loop)
    for factor in (found.disk_gain, 1 / found.disk_gain):
        assert margins(third_order(2.0 * factor)).stable
    assert found.disk_gain < found.gain and found.disk_phase < found.phase and found.disk < 2.0
    L = loop.response(np.geomspace(0.1, 10.0, 100_000))[:, 0, 0]
    assert 1 / np.abs((1 - L) / (1 + L) / 2).max() == pytest.approx(
        found.disk, rel=1e-6
    )  # flat at the top: the square of the spacing 5e-5


def test_transmission_zeros_of_two_masses_match_closed_form():
    """Force on the first of two masses with a spring, its own position: a zero where the second one is an absorber, ±j √(k/m2)."""
    k, m1, m2 = 50.0, 3.0, 2.0
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-k / m1, k / m1, 0, 0], [k / m2, -k / m2, 0, 0]])
    B, C = np.array([[0], [0], [1 / m1], [0]]), np.array([[1.0, 0, 0, 0]])
    assert np.sort(transmission_zeros(A, B, C, NONE).imag) == pytest.approx([-5.0, 5.0], rel=1e-12)
    assert transmission_zeros(A, B, np.array([[0, 1.0, 0, 0]]), NONE).size == 0


def oscillators(**more):
    """Two masses on springs of their own, a force on the first one only."""
    body = {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}
    return load(
        {
            "gravity": [0, 0, 0],
            "bodies": {"a": body, "b": body},
            "joints": {
                f"j{k}": {"child": k, "transforms": [{"shift": "x", "coordinate": k}]} for k in "ab"
            },
            "inputs": {"f": {"start": 0.0}},
            "forces": {
                "fa": {"coordinate": "a", "value": "f - 32*a - 4*der(a)"},
                "fb": {"coordinate": "b", "value": "-200*b - der(b)"},
            },
            "outputs": {"where": {"value": "a"}},
            **more,
        }
    )


def test_uncontrollable_and_unobservable_modes_are_reported():
    linear = linear_at_rest(oscillators().compile())
    modes = mode_facts(linear)
    assert [mode.frequency for mode in modes] == pytest.approx(
        [4 / (2 * math.pi), 10 / (2 * math.pi)], rel=1e-12
    )
    assert modes[0].participation == pytest.approx({"a": 0.5, "der(a)": 0.5}, rel=1e-2) and modes[
        0
    ].kinetic == pytest.approx({"a": 1.0})
    lines = unreachable_modes(modes, linear.inputs, linear.outputs)
    assert [line.split(" is ")[1] for line in lines] == [
        "not moved by f",
        "not seen by where",
    ] and all(line.startswith("mode 2") for line in lines)


def test_frequency_response_matches_equation():
    """1/(m (-ω²) + d jω + k)."""
    part = linear_at_rest(oscillators().compile()).part(["f"], ["where"])
    omega = np.array([0.1, 3.0, 4.0, 50.0])
    assert part.response(omega)[:, 0, 0] == pytest.approx(
        1 / (32 - 2 * omega**2 + 4j * omega), rel=1e-12
    )


def test_frequency_response_matches_simulation():
    """A small sine on a boom swings it as the response says: the nonlinear motion after its transients, amplitude by least squares."""
    swing = {
        "bodies": {"arm": {"mass": 3.0, "com": [0, 0, -0.6], "inertia": [0.1, 0.2, 0.1, 0, 0, 0]}},
        "inputs": {"torque": {"start": 2.0}},
    }
    swing |= {"joints": {"j": {"child": "arm", "transforms": [{"rotate": "y", "coordinate": "q"}]}}}
    swing |= {
        "forces": {"m": {"coordinate": "q", "value": "torque - 6*der(q)"}},
        "outputs": {"angle": {"value": "q"}},
    }
    system = load(swing).compile()
    part = linear_at_rest(system, {"torque": 2.0}).part(["torque"], ["angle"])
    small, omega = 1e-3, 2.5
    result = system.simulate(
        stop_time=25.0,
        output_step=0.01,
        inputs={"torque": lambda t: 2.0 + small * math.sin(omega * t)},
        tolerance=1e-10,
    )
    late = result.time > 15.0
    basis = np.column_stack(
        (np.sin(omega * result.time), np.cos(omega * result.time), np.ones(result.time.size))
    )[late]
    found = np.linalg.lstsq(basis, result["angle"][late], rcond=None)[0] / small
    # inputs are straight between rows: a sine of ω loses (ω h)²/12 of its amplitude, 5e-5; second order in `small` 1e-3
    assert complex(found[0], found[1]) == pytest.approx(
        complex(part.response(omega)[0, 0, 0]), rel=2e-3
    )


def test_linearisation_at_a_time_matches_the_run():
    """A pendulum that falls: the linearised motion continues the run; z(t + h) = z(t) + ∫ exp(A s) ds ż."""
    rod = {"mass": 2.0, "com": [0, 0, -0.5], "inertia": [1 / 6, 1 / 6, 0.001, 0, 0, 0]}
    system = load(
        {
            "bodies": {"rod": rod},
            "joints": {
                "p": {
                    "child": "rod",
                    "transforms": [{"rotate": "y", "coordinate": "q", "start": 2.0}],
                }
            },
        }
    ).compile()
    h = 1e-3
    run = system.simulate(stop_time=0.5 + h, output_step=h, tolerance=1e-11)
    linear = linear_at_time(system, 0.5, tolerance=1e-11)
    here, after = (np.array([run["q"][k], run["der(q)"][k]]) for k in (500, 501))
    rate = np.array([here[1], system.accelerations(0.5, here[:1], here[1:])[0]])
    step = expm(np.block([[linear.A * h, rate[:, None] * h], [np.zeros((1, 3))]]))[:2, 2]
    assert after - here == pytest.approx(
        step, abs=14.7 * here[1] ** 2 / 6 * h**3
    )  # what A does not know: the curvature of 3g/2l sin(q)


def test_linearisation_at_a_time_uses_the_stage_of_that_time():
    """After the second body is dropped its freedom is gone from the linearised system."""
    source = oscillators(
        stages=[{"name": "both", "ends": {"at": 0.5}, "drop": ["b"]}, {"name": "one"}]
    ).source
    source["forces"].pop("fb")
    system = load(source).compile()
    assert linear_at_time(system, 0.2).states == ("a", "b", "der(a)", "der(b)") and linear_at_time(
        system, 0.8
    ).states == ("a", "der(a)")


def test_state_space_converts_to_python_control():
    control = pytest.importorskip("control")
    linear = linear_at_rest(oscillators().compile())
    made = linear.to_control()
    assert list(made.input_labels) == ["f"] and made.nstates == 4
    assert control.poles(made) == pytest.approx(np.linalg.eigvals(linear.A))
    loop = third_order(2.0)
    gain, phase, at_gain, at_phase = control.margin(control.ss(loop.A, loop.B, loop.C, loop.D))
    found = margins(loop)
    assert (gain, phase, at_gain, at_phase) == pytest.approx(
        (found.gain, found.phase, found.gain_at, found.phase_at), rel=1e-6
    )


def test_python_control_conversion_accepts_names_with_dots():
    pytest.importorskip("control")
    made = load("lib:boom").compile().linearize().to_control()
    assert "lift_force" in made.input_labels and "lift_length" in made.output_labels
    d = oscillators().source | {"outputs": {"a.b": "a", "a_b": "b", "a.b_2": "a"}}
    linear = load(d).compile().linearize(outputs=["a.b", "a_b", "a.b_2"])
    assert linear.to_control().output_labels == ["a_b_2", "a_b", "a_b_2_2"]


def test_linearize_command_prints_modes_and_margins(tmp_path, capsys: pytest.CaptureFixture):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(oscillators().source))
    for ending in ("npz", "mat", "json", "csv"):
        assert (
            cli.main(
                [
                    "linearize",
                    str(path),
                    "--inputs",
                    "f",
                    "--outputs",
                    "where",
                    "--quiet",
                    "-o",
                    str(tmp_path / f"lin.{ending}"),
                ]
            )
            == 0
        )
    assert np.load(tmp_path / "lin.npz")["B"].shape == (4, 1)
    assert (
        cli.main(["linearize", str(path), "--margins", "--json", "--root-locus", "nothing=1:2"])
        == 2
    )
    assert (
        cli.main(["linearize", str(path), "-o", str(path)]) == 2
        and "description itself" in capsys.readouterr().err
    )
    pictures = [tmp_path / f"{name}.png" for name in ("bode", "nyquist", "poles")]
    options = [text for picture in pictures for text in (f"--{picture.stem}", str(picture))]
    assert cli.main(["linearize", str(path), "--margins", *options]) == 0
    said = capsys.readouterr().out
    assert (
        "mode 2" in said
        and "not moved by f" in said
        and "control loop closed by f = -where: stable" in said
    )
    assert all(picture.stat().st_size > 5000 for picture in pictures)
    assert (
        cli.main(["linearize", str(path), "--outputs", "wher"]) == 2
        and "did you mean 'where'" in capsys.readouterr().err
    )


def test_margins_are_printed_as_sentences():
    """What is stable has a disk margin, what is not has none that means anything; infinite margins are left out."""
    hertz = 2.0 * math.pi
    known = Margins(True, 4.0, 3.0 * hertz, 0.0, 60.0, hertz, 0.25, 0.5, 2.0, 1.0)
    assert sentence_of(known) == (
        "stable, gain margin 4 at 3 Hz, phase margin 60° at 1 Hz, delay margin 0.25 s, disk margin 1 (gain factor 0.333 to 3, or phase 53.1°)"
    )
    lost = Margins(False, math.inf, 0.0, 0.5, math.inf, 0.0, math.inf, 0.0, 0.0, 0.3)
    assert sentence_of(lost) == "unstable, gain reduction margin 0.5"


@pytest.mark.parametrize(
    ("at", "words"), [("rest", "at equilibrium"), ("start", "at start"), ("2.5", "at 2.5 s")]
)
def test_linearize_heading_names_operating_point(
    at: str, words: str, capsys: pytest.CaptureFixture
):
    """An instant has its unit, a place has none."""
    nothing = {
        "modes": [],
        "said": [],
        "zero_array": np.zeros(0),
        "margin_objects": {},
        "loops": [],
        "cycles": [],
        "sweep": None,
    }
    show("Cart", None, nothing, at)  # pyright: ignore[reportArgumentType]
    assert f"Cart {words}: modes" in capsys.readouterr().out


def test_neutral_modes_outside_the_loop_do_not_make_it_unstable():
    """An integral that nothing moves, beside a lag under feedback: stable as the lag alone is; an integral that the loop leaves at zero is not."""
    A, B = np.diag([0.0, -1.0]), np.array([[0.0], [1.0]])
    C, D = np.array([[0.0, 3.0]]), np.zeros((1, 1))
    assert margins(StateSpace(A, B, C, D)).stable
    assert not margins(StateSpace(A, B, -C, D)).stable
    lag = StateSpace(np.array([[-1.0]]), np.array([[1.0]]), np.array([[-1.0]]), D)
    assert not margins(lag).stable, "the loop itself brings its pole to zero"
    sampled = held_plant(StateSpace(A, B, C, D), 0.1)
    assert margins(sampled).stable and not margins(held_plant(StateSpace(A, B, -C, D), 0.1)).stable
    assert not margins(held_plant(lag, 0.1)).stable


@pytest.mark.parametrize("period", [0.1, 0.01])
@pytest.mark.parametrize("gain", [2.0, 19.0])
def test_sampled_loop_reaches_its_gain_margin_at_half_the_sampling_rate(gain, period):
    """A lag 1/(s + 2) behind a hold has the pole a = exp(-2 T); under a gain it is a - gain (1 - a)/2, which leaves the unit circle at -1."""
    a = math.exp(-2.0 * period)
    largest = (1.0 + a) / ((1.0 - a) / 2.0)
    lag = StateSpace(np.array([[-2.0]]), np.array([[1.0]]), np.array([[gain]]), NONE)
    found = margins(held_plant(lag, period))
    assert found.stable and found.gain == pytest.approx(largest / gain, rel=1e-9)
    assert found.gain_at == pytest.approx(math.pi / period, rel=1e-9)
    for factor in (0.999, 1.001):
        more = StateSpace(lag.A, lag.B, lag.C * found.gain * factor, NONE)
        assert margins(held_plant(more, period)).stable == (factor < 1.0)


def test_feedthrough_reaches_its_gain_margin_at_infinite_frequency():
    """L = g (1 - s)/(1 + s): the loop has its pole at -(1 + g)/(1 - g) and is stable for g < 1."""
    g = 0.25
    found = margins(StateSpace(-np.eye(1), np.eye(1), 2.0 * g * np.eye(1), -g * np.eye(1)))
    assert found.stable and found.gain == pytest.approx(1.0 / g, rel=1e-9)


def with_dead_time(loop: StateSpace, delay: float, order: int = 6) -> np.ndarray:
    """Return the poles of the closed loop with a dead time by Padé, as a chain of short ones."""
    part = delay / 4.0
    rate = 2.0 * order / part
    lag = StateSpace(*(np.array([[x]]) for x in (-rate, 2.0 * rate, 1.0, -1.0)))
    for _ in range(4 * order):
        loop = loop.then(lag)
    return np.linalg.eigvals(loop.closed())


@pytest.mark.parametrize("seed", range(12))
def test_stability_with_dead_time_matches_eigenvalues(seed):
    """Poles left and right, and a free axis beside them, which the loop neither moves nor sees."""
    rng = np.random.default_rng(seed)
    n = 4
    A = rng.normal(size=(n, n)) - 0.4 * np.eye(n)
    B, C = rng.normal(size=(n, 1)), 2.0 * rng.normal(size=(1, n))
    plain = StateSpace(A, B, C, np.zeros((1, 1)))
    free = np.zeros((n + 3, n + 3))
    free[:n, :n], free[n, n + 1] = A, 1.0
    beside = StateSpace(
        free, np.vstack((B, np.zeros((3, 1)))), np.hstack((C, np.zeros((1, 3)))), plain.D
    )
    for delay in (0.02, 0.1, 0.3, 0.8, 2.0):
        right = with_dead_time(plain, delay).real.max()
        if abs(right) > 1e-2:
            assert margins(plain, delay=delay).stable == (right < 0.0)
            assert margins(beside, delay=delay).stable == (right < 0.0)


def test_slow_integrator_has_a_phase_margin():
    """k/s beside fast poles crosses at k, far below all motions."""
    k = 1.3e-4
    A = np.diag([0.0, -10.0])
    loop = StateSpace(A, np.array([[1.0], [1.0]]), np.array([[k, 0.0]]), np.zeros((1, 1)))
    found = margins(loop)
    assert found.phase_at == pytest.approx(k) and found.phase == pytest.approx(90.0)


@pytest.mark.parametrize(
    ("delay", "stable"), [(0.0, False), (0.02, False), (0.5, True), (6.0, False)]
)
def test_dead_time_that_stabilises_a_loop_is_counted(delay, stable):
    """s² - 0.02 s + 1 - 0.5 exp(-s T) = 0: delayed positive feedback damps (0.5 T > 0.02 for small T) until its phase has turned."""
    A, C = np.array([[0.0, 1.0], [-1.0, 0.02]]), np.array([[-0.5, 0.0]])
    loop = StateSpace(A, np.array([[0.0], [1.0]]), C, NONE)
    assert margins(loop, delay=delay).stable == stable
    grid = np.linspace(0.0, 0.4, 81)[:, None] + 1j * np.linspace(0.0, 2.0, 401)[None]
    size = np.abs(grid**2 - 0.02 * grid + 1.0 - 0.5 * np.exp(-grid * delay))
    near = size.min() < 0.01
    assert near != stable, "a root right of the axis, by search"
