"""States of rest against hand calculations: positions, reactions, frequencies, what is stable, what nothing holds."""

import csv
import json
import math
import warnings

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.analysis.equilibrium import separated_basis
from kinetree.models.analysis.equilibrium_table import neutral_combination, rest_rows, shape_of
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts import cli

g = 9.81
ROD = {"mass": 2.0, "com": [0, 0, -0.5], "inertia": [1 / 6, 1 / 6, 0.001, 0, 0, 0]}


def pendulum(start: float, forces: dict | None = None, inputs: dict | None = None):
    return load(
        {
            "format": "kinetree/1",
            "name": "rod",
            "bodies": {"rod": ROD},
            "joints": {
                "pivot": {
                    "child": "rod",
                    "transforms": [{"rotate": "y", "coordinate": "phi", "start": start}],
                }
            },
            "forces": forces or {},
            "inputs": inputs or {},
        }
    ).compile()


@pytest.mark.parametrize("start", [0.3, math.pi / 2, 3.0, -2.5])
def test_rod_equilibrium_hangs_down(start: float):
    """From any side, even from close to the unstable top; 2 pi f = sqrt(m g l/2 / (m l^2/3))."""
    found = pendulum(start).equilibrium()
    assert found.stable and found.undetermined == ()
    assert math.remainder(found.coordinates["phi"], 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert found.modes[0].frequency == pytest.approx(
        math.sqrt(1.5 * g) / (2 * math.pi), rel=1e-8
    )  # differences: step^2 = 4e-11
    assert found.reactions["pivot"] == pytest.approx((0, 0, 2 * g, 0, 0, 0), abs=1e-7)


def test_upright_pendulum_equilibrium_is_reported_unstable():
    assert not pendulum(math.pi).equilibrium().stable


def test_reported_equilibrium_balances_moments_and_has_damping():
    """m g l/2 sin(phi) = torque; damping ratio d / (2 sqrt(k I)) with k = m g l/2 cos(phi), I = m l^2/3."""
    system = pendulum(
        0.0, {"motor": {"coordinate": "phi", "value": "torque - 0.4*der(phi)"}}, {"torque": 0.0}
    )
    found = system.equilibrium(inputs={"torque": 4.0})
    angle = math.asin(4.0 / g)
    assert found.coordinates["phi"] == pytest.approx(angle, abs=1e-10)
    assert found.modes[0].damping == pytest.approx(
        0.4 / (2 * math.sqrt(g * math.cos(angle) * 2 / 3)), rel=1e-7
    )


def test_unbalanced_force_is_named():
    system = pendulum(0.0, {"motor": {"coordinate": "phi", "value": "20"}})
    with pytest.raises(EvaluationError, match=r"der\(phi\)"):
        system.equilibrium()


def test_body_on_quaternion_joint_hangs_and_is_neutral_in_spin():
    """A top on a ball joint falls over and hangs; nothing holds it about its own axis."""
    found = load("lib:heavy-top").compile().equilibrium()
    assert found.stable
    assert found.outputs["com[3]"] == pytest.approx(-1.0, abs=1e-9)
    assert len(found.undetermined) == 1


def test_equilibrium_with_reversed_ball_joint_is_found():
    """Its coordinates took no part in the search: whatever the position, they stayed."""
    top = {"mass": 2.0, "com": [0.3, 0.0, 0.0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    joint = {"parent": "top", "child": "ground", "type": "spherical"}
    height = {"quantity": "position", "body": "top", "point": [0.3, 0.0, 0.0], "axis": "z"}
    found = (
        load({"bodies": {"top": top}, "joints": {"ball": joint}, "outputs": {"height": height}})
        .compile()
        .equilibrium()
    )
    assert found.stable and found.outputs["height"] == pytest.approx(-0.3, abs=1e-9)


def test_closed_loop_equilibrium_minimises_potential():
    """Along the one freedom of a four-bar the potential energy has its minimum at the rest position."""
    system = load("lib:four-bar").compile()
    found = system.equilibrium()
    assert found.stable and len(found.eigenvalues) == 2
    zero = np.zeros(system.n)
    direction = system.project(0.0, found.q, np.ones(system.n))[1]

    def potential(step: float) -> float:
        q, _ = system.project(0.0, found.q + step * direction, zero)
        return system.energy(0.0, q, zero)[1]

    here = potential(0.0)
    assert potential(1e-3) > here and potential(-1e-3) > here
    assert abs(potential(1e-4) - potential(-1e-4)) < 1e-2 * (
        potential(1e-4) + potential(-1e-4) - 2 * here
    )


def test_free_body_has_neutral_equilibrium():
    found = load("lib:free-body").compile().equilibrium()
    assert found.iterations == 0 and len(found.undetermined) == 6


def hanging_links(count: int):
    """Point masses on massless rods with rotational springs, held out horizontally."""
    link = {"mass": 0.5, "com": [0.2, 0, 0], "inertia": [0.0] * 6}
    joints = {
        f"j{k}": {
            "parent": f"b{k - 1}" if k > 1 else "ground",
            "child": f"b{k}",
            "transforms": [
                {"shift": [0.2 if k > 1 else 0.0, 0, 0]},
                {"rotate": "y", "coordinate": f"a{k}"},
            ],
        }
        for k in range(1, count + 1)
    }
    forces = {
        f"s{k}": {"coordinate": f"a{k}", "stiffness": 1.5, "damping": 0.01}
        for k in range(1, count + 1)
    }
    return load(
        {"bodies": {f"b{k}": link for k in range(1, count + 1)}, "joints": joints, "forces": forces}
    ).compile()


def test_chain_with_springs_hangs_in_balance():
    """Moment balance joint by joint: k a_j = moment about joint j of all weights beyond it, from the positions alone."""
    count = 12
    found = hanging_links(count).equilibrium()
    angles = np.cumsum([found.coordinates[f"a{k}"] for k in range(1, count + 1)])
    x = np.concatenate(([0.0], np.cumsum(0.2 * np.cos(angles))))  # joints, then masses one further
    total = count * 0.5 * g
    for j in range(count):
        moment = sum(0.5 * g * (x[k] - x[j]) for k in range(j + 1, count + 1))
        assert abs(1.5 * found.coordinates[f"a{j + 1}"] - moment) < 1e-9 * total
    assert found.residual < 1e-9 and found.stability == "stable" and len(found.modes) == count
    assert found.forces["s1"] == pytest.approx(-1.5 * found.coordinates["a1"], rel=1e-12)
    assert found.reactions["j1"][:3] == pytest.approx(
        (-total * math.sin(angles[0]), 0, total * math.cos(angles[0])), abs=1e-8
    )


def block(forces: dict, start: float = 0.5, **more):
    """A block of 100 kg that moves up and down."""
    body = {"mass": 100.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    joint = {"child": "block", "transforms": [{"shift": "z", "coordinate": "h", "start": start}]}
    return load(
        {"bodies": {"block": body}, "joints": {"guide": joint}, "forces": forces, **more}
    ).compile()


def test_block_comes_to_equilibrium_on_ground_contact():
    """Nothing holds the block in the air; on the ground m g = k depth, and the contact load is the weight."""
    system = block({"ground": {"coordinate": "h", "value": "if(h < 0, -4e6*h, 0)"}})
    found = system.equilibrium()
    assert found.coordinates["h"] == pytest.approx(-100 * g / 4e6, rel=1e-9)
    assert found.forces["ground"] == pytest.approx(100 * g, rel=1e-9)
    assert found.residual < 1e-9 and found.stability == "stable"
    assert found.modes[0].frequency == pytest.approx(math.sqrt(4e4) / (2 * math.pi), rel=1e-8)


def test_preparation_steps_continue_from_each_other():
    """On wheels, then on jacks that come down and lift it off, then under load: every state in balance, the springs in series and in parallel."""
    forces = {
        "wheel": {"coordinate": "h", "value": "if(h < 0.4, 2e5*(0.4 - h), 0)"},
        "jack": {"coordinate": "h", "value": "if(h < jack, 1e7*(jack - h), 0)"},
        "load": {"coordinate": "h", "value": "-extra"},
    }
    system = block(forces, parameters={"jack": 0.0}, inputs={"extra": 0.0})
    wheels, jacks, loaded = system.equilibria([{}, {"jack": 0.5}, {"extra": 500.0}])
    assert (
        wheels.coordinates["h"] == pytest.approx(0.4 - 100 * g / 2e5, rel=1e-9)
        and wheels.forces["jack"] == 0.0
    )
    assert (
        jacks.coordinates["h"] == pytest.approx(0.5 - 100 * g / 1e7, rel=1e-9)
        and jacks.forces["wheel"] == 0.0
    )
    assert loaded.coordinates["h"] == pytest.approx(0.5 - (100 * g + 500) / 1e7, rel=1e-9)
    assert loaded.forces["load"] == -500.0
    with pytest.raises(KeyError, match="'jacks' can not be set"):
        system.equilibria([{"jacks": 1.0}])


def test_equilibrium_of_every_stage_is_found():
    """A link locked at its rest position in the first stage stays there when the second one hangs on its own."""
    arm = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0, 0.1, 0.1, 0, 0, 0]}
    system = load(
        {
            "bodies": {"a": arm, "b": arm},
            "joints": {
                "shoulder": {"child": "a", "transforms": [{"rotate": "y", "coordinate": "p"}]},
                "elbow": {
                    "parent": "a",
                    "child": "b",
                    "transforms": [{"shift": [1, 0, 0]}, {"rotate": "y", "coordinate": "r"}],
                },
            },
            "forces": {
                "motor": {"coordinate": "p", "value": "-40*p - der(p)"},
                "drive": {"coordinate": "r", "value": "lift - 9*r - der(r)"},
            },
            "parameters": {"lift": 0.0},
            "stages": [
                {"name": "both", "ends": {"at": 1.0}, "lock": ["shoulder"], "set": {"lift": 6.0}},
                {"name": "elbow"},
            ],
        }
    ).compile()
    both, elbow = system.equilibria()
    assert list(elbow.coordinates) == ["r"] and both.stable and elbow.stable
    p, r = both.coordinates["p"], elbow.coordinates["r"]
    assert 6.0 - 9 * r + 0.5 * g * math.cos(p + r) == pytest.approx(0.0, abs=1e-8)


def test_state_without_equilibrium_is_named():
    """An odometer never comes to rest."""
    system = block(
        {"spring": {"coordinate": "h", "stiffness": 1e4}},
        states={"odometer": {"rate": "2.0", "start": 0.0}},
    )
    with pytest.raises(EvaluationError, match="odometer.* 2 per second"):
        system.equilibrium()


def test_integrating_drive_finds_its_setting():
    """An integrator of the error has no stiffness of its own: Newton's steps couple it with the position."""
    system = block(
        {"drive": {"coordinate": "h", "value": "5e4*i - 2e4*h - 300*der(h)"}},
        states={"i": {"rate": "0.7 - h", "start": 0.0}},
    )
    found = system.equilibrium()
    assert found.coordinates["h"] == pytest.approx(0.7, rel=1e-10)
    assert found.states["i"] == pytest.approx((100 * g + 2e4 * 0.7) / 5e4, rel=1e-10)
    assert found.undetermined == ()


def test_neutral_direction_names_all_its_coordinates():
    """Two blocks on one spring float together: the null space moves both alike."""
    body = {"mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    joints = {
        name: {"child": name, "transforms": [{"shift": "x", "coordinate": f"x{name}"}]}
        for name in "ab"
    }
    ends = [{"body": "a", "point": [0, 0, 0]}, {"body": "b", "point": [1, 0, 0]}]
    system = load(
        {
            "bodies": {"a": body, "b": body},
            "joints": joints,
            "forces": {"s": {"between": ends, "stiffness": 90.0, "length": 1.0}},
        }
    ).compile()
    found = system.equilibrium()
    assert found.stability == "indifferent" and found.undetermined == ("xa", "xb")
    assert found.directions[0] == pytest.approx({"xa": 1.0, "xb": 1.0})
    assert found.modes[0].frequency == pytest.approx(math.sqrt(180.0) / (2 * math.pi), rel=1e-9)


def test_equilibrium_search_takes_long_steps_along_a_stiff_valley():
    """Springs a hundred thousand times stiffer than the weight: steps along their curved valley are brought back to its floor, not shortened."""
    found = load("lib:flyball").compile().equilibrium()
    assert found.iterations < 20 and found.residual < 1e-9
    assert found.coordinates["beta1"] == pytest.approx(math.pi / 2, abs=1e-3)
    assert found.undetermined == ("shaft",)


@pytest.mark.parametrize("start", [[0, 0, 1.0, 1, 0, 0, 0], [0, 0, 1.0, 0.99, 0.1, 0.1, 0]])
def test_box_dropped_on_four_contacts(start: list[float]):
    """A box falls, turns and stands on its corners: each carries a quarter of the weight; nothing holds it sideways at rest."""
    corners = [(x, y, -0.2) for x in (-0.3, 0.3) for y in (-0.3, 0.3)]
    contacts = {
        f"c{k}": {
            "kind": "contact",
            "body": "box",
            "point": p,
            "stiffness": 1e6,
            "damping": 1e3,
            "friction": 0.5,
        }
        for k, p in enumerate(corners)
    }
    box = {"mass": 10.0, "com": [0, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    found = (
        load(
            {
                "bodies": {"box": box},
                "joints": {"f": {"child": "box", "type": "free", "start": start}},
                "forces": contacts,
            }
        )
        .compile()
        .equilibrium()
    )
    assert list(found.forces.values()) == pytest.approx([2.5 * g] * 4, rel=1e-8)
    assert found.coordinates["f.z"] == pytest.approx(0.2 - 2.5 * g / 1e6, abs=1e-9)
    assert (
        set(found.undetermined) == {"f.shift_x", "f.shift_y", "f.turn_z"}
        and found.stability == "indifferent"
    )
    assert found.residual < 1e-9


def servo_text(a: float, b: float, command: str, leakage: float) -> dict:
    """A mass on a cylinder behind a servo valve; the start pressures of its chambers."""
    line = {"supply": "supply", "tank": "tank", "a": "a", "b": "b"}
    cylinder = {
        "between": [{"point": [0, 0, 0]}, {"body": "m"}],
        "a": "a",
        "b": "b",
        "area_a": 0.005,
        "area_b": 0.003,
        "shortest": 1,
        "longest": 2,
    }
    circuit = {
        "supply": {"pressure": 280e5},
        "tank": {"pressure": 3e5},
        "a": {"volume": 1e-3, "start": a},
        "b": {"volume": 1e-3, "start": b},
        "v": {**line, "rated_flow": 1e-3, "command": command, "frequency": 20},
        "cyl": {**cylinder, "leakage": leakage, "viscous": 20000},
    }
    joint = {"child": "m", "type": "prismatic", "axis": "z", "coordinates": ["z"], "start": [1.5]}
    return {"bodies": {"m": {"mass": 1000}}, "joints": {"j": joint}, "hydraulics": circuit}


@pytest.mark.parametrize("pressure", [5e5, 30e5, 50e5, 80e5, 117e5, 150e5, 250e5])
def test_servo_equilibrium_is_independent_of_start_pressure(pressure: float):
    """The leak flows through both edges of the valve, so that p_supply - p_b = p_a - p_tank; with the weight that gives both pressures.

    Rates were measured by the largest slope of their row, which the spool gives: pressures that changed by bars per second passed for rest. Another
    rest, at the valve's centre, is left by the slightest motion. Pascals beside radians made a stable rest 'indifferent'.
    """
    found = (
        load(servo_text(pressure, pressure, "8*(1.6 - cyl.length)", 1e-12)).compile().equilibrium()
    )
    assert found.states["a.pressure"] == pytest.approx((1000 * g + 0.003 * 283e5) / 0.008, rel=1e-9)
    assert found.states["a.pressure"] + found.states["b.pressure"] == pytest.approx(283e5, rel=1e-9)
    assert found.coordinates["z"] == pytest.approx(1.6 - found.states["v.spool"] / 8, rel=1e-12)
    assert (
        found.stability == "stable"
        and found.undetermined == ()
        and found.eigenvalues.real.max() < 0.0
    )
    assert [abs(mode.shape["z"]) for mode in found.modes] == pytest.approx([1.0] * len(found.modes))


def test_undetermined_pressures_are_named_in_display_units():
    """Without a leak and behind a shut valve any pair of pressures that carries the weight stays, wherever the piston is."""
    source = servo_text((1000 * g + 0.003 * 60e5) / 0.005, 60e5, "0", 0.0)
    found = load(source).compile().equilibrium()
    assert found.stability == "indifferent" and {"z", "b.pressure"} <= set(found.undetermined)
    tied = next(each for each in found.directions if "a.pressure" in each)
    assert tied["a.pressure"] / tied["b.pressure"] == pytest.approx(0.6, rel=1e-9)


@pytest.mark.parametrize("name", ["tank.settlement", "foot.settlement", "settlement"])
def test_user_defined_states_are_not_treated_as_soil_states(name: str):
    """States were taken for soil, which never rises, by the end of their name; a contact called foot without soil has none either."""
    forces = {
        "s": {"coordinate": "h", "stiffness": 1e5},
        "foot": {"kind": "contact", "body": "block", "point": [0, 0, 9.0], "stiffness": 1e4},
    }
    found = block(forces, states={name: {"rate": f"0.3 - {name}", "start": 1.0}}).equilibrium()
    assert found.coordinates["h"] == pytest.approx(-100 * g / 1e5, rel=1e-9) and found.states[
        name
    ] == pytest.approx(0.3, rel=1e-9)


def test_neutral_directions_do_not_depend_on_the_null_space_basis():
    """Three directions, turned into one another at random: the same vectors come out."""
    rng = np.random.default_rng(1)
    space = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.5, 0, 0], [0, 0.3, -0.2]])
    for _ in range(20):
        turned = space @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        found = separated_basis(turned)
        assert np.abs(found[:, np.argsort(np.abs(found[:3]).argmax(axis=0))] - space).max() < 1e-12


def test_statics_continues_from_previous_equilibrium(tmp_path, capsys: pytest.CaptureFixture):
    path = tmp_path / "block.json"
    body = {"mass": 100.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    joint = {"child": "block", "transforms": [{"shift": "z", "coordinate": "h"}]}
    spring = {"coordinate": "h", "stiffness": "k", "damping": 300.0}
    path.write_text(
        json.dumps(
            {
                "bodies": {"block": body},
                "joints": {"guide": joint},
                "forces": {"spring": spring},
                "parameters": {"k": 1e4},
            }
        )
    )
    assert cli.main(["statics", str(path), "--then", "k=2e4", "--json"]) == 0
    soft, stiff = json.loads(capsys.readouterr().out)
    assert soft["coordinates"]["h"] == pytest.approx(2 * stiff["coordinates"]["h"], rel=1e-9)
    assert stiff["modes"][0]["damping"] == pytest.approx(
        300.0 / (2 * math.sqrt(2e4 * 100)), rel=1e-7
    )
    assert cli.main(["statics", str(path), "--then", "k=2e4"]) == 0
    assert "damping ratio 0.1061" in capsys.readouterr().out
    assert cli.main(["statics", str(path), "--then", "stiffness=2e4"]) == 2
    assert "--then stiffness: expected one of k" in capsys.readouterr().err


def test_open_loop_in_initial_guess_is_closed_first():
    system = load("lib:four-bar").compile()
    here = system.equilibrium()
    guess = here.q + 0.02
    assert system.constraint_residual(0.0, guess) > 1e-3
    assert system.equilibrium(q=guess).q == pytest.approx(here.q, abs=1e-9)
    assert system.linearize(q=here.q + 1e-9).stiffness == pytest.approx(
        here.linear.stiffness, rel=1e-6
    )


@pytest.mark.parametrize("force", ["exp(800*phi)", "-exp(800*phi)*phi", "1e300*phi*1e300"])
def test_infinite_forces_are_named(force: str):
    """Infinite forces made slopes of nan, on which the search ended inside scipy."""
    with pytest.raises(EvaluationError, match=r"der\(phi\) is not a finite number"):
        pendulum(1.0, {"push": {"coordinate": "phi", "value": force}}).equilibrium()


def test_equilibrium_values_are_printed_in_fitting_units_without_rounding():
    """Pressures in bar, loads in kN, flows that are rounding as 0: the numbers of to_dict stay as they are."""
    rest = load("lib:boom-drive").compile().equilibrium()
    rows = {
        name: (number, unit) for table in rest_rows(rest).values() for name, number, unit in table
    }
    assert float(rows["rail.pressure"][0]) == pytest.approx(209.5, abs=0.01)
    assert rows["rail.pressure"][1] == "bar" and rows["lift.force"][1] == "kN"
    assert rows["pump.flow"] == ("0", "l/min")
    assert float(rows["lift.force"][0]) == pytest.approx(
        rest.outputs["lift.force"] / 1000, rel=1e-5
    )
    shown = rest._repr_html_()
    assert "bar" in shown and "e-1" not in shown and "Force elements" in shown
    assert (
        "Hz" in rest.modes._repr_html_()
        and "Hz" in rest.linear._repr_html_()
        and "states" in rest.linear._repr_html_()
    )
    assert all(name in rest.linear.local for name, _ in shape_of(rest, rest.modes[0]))


def test_only_growing_modes_are_reported_as_unstable(tmp_path, capsys):
    """An upright pendulum beside a mass that nothing holds: one grows by e in √(I/(m g l)), the other goes on as it goes."""
    m, l, inertia = 2.0, 0.5, 0.1
    text = {
        "name": "upright", "gravity": [0, 0, -g],
        "bodies": {"rod": {"mass": m, "com": [0, 0, l], "inertia": [inertia, inertia, 0.01, 0, 0, 0]}, "sled": {"mass": 1.0}},
        "joints": {"a": {"child": "rod", "type": "revolute", "axis": "y", "coordinates": ["phi"]},
                   "b": {"child": "sled", "type": "prismatic", "axis": "x", "coordinates": ["s"]}},
    }  # fmt: skip
    (tmp_path / "upright.json").write_text(json.dumps(text))
    assert cli.main(["statics", str(tmp_path / "upright.json")]) == 0
    told = capsys.readouterr().out
    lines = [line for line in told.splitlines() if "grows" in line]
    assert len(lines) == 1 and "phi" in lines[0] and ": s\n" in told
    assert float(lines[0].split(" in ")[1].split()[0]) == pytest.approx(
        math.sqrt((inertia + m * l * l) / (m * g * l)), rel=1e-3
    )


def test_tyre_deflection_states_follow_the_displacement():
    """Two wheels under a beam on springs, pushed apart as it sinks: both sides settle alike.

    The tyres' side travel keeps any value at standstill; it is what the way down leaves in it, and
    nothing that springs hold counts as free.
    """
    wheel = {"mass": 20.0, "inertia": [1, 1, 1, 0, 0, 0]}
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, -g],
        "bodies": {
            "car": {"mass": 600.0, "inertia": [100, 100, 100, 0, 0, 0]},
            "left": wheel,
            "right": wheel,
        },
        "joints": {
            "heave": {
                "child": "car",
                "transforms": [
                    {"shift": [0, 0, 0.5]},
                    {"shift": "z", "coordinate": "z"},
                    {"rotate": "x", "coordinate": "roll"},
                ],
            }
        },
        "forces": {},
    }
    for name, side in (("left", 1.0), ("right", -1.0)):
        d["joints"][name] = {
            "parent": "car",
            "child": name,
            "transforms": [
                {"shift": [0, 0.3 * side, 0]},
                {"rotate": "x" if side > 0 else "-x", "coordinate": f"arm_{name}"},
                {"shift": [0, 0.4 * side, -0.2]},
            ],
        }
        d["forces"][f"spring_{name}"] = {"coordinate": f"arm_{name}", "stiffness": 8e3}
        d["forces"][f"tyre_{name}"] = {
            "kind": "tyre", "body": name, "radius": 0.3, "side": "y", "stiffness": 2e5,
            "damping": 500, "friction": 0.9, "side_stiffness": 1e5, "side_damping": 1500,
        }  # fmt: skip
    rest = load(d).compile().equilibrium()
    travel = [rest.states[f"tyre_{name}.travel"] for name in ("left", "right")]
    assert travel[0] == pytest.approx(-travel[1], abs=1e-5) and abs(travel[0]) > 1e-5
    assert rest.coordinates["arm_left"] == pytest.approx(rest.coordinates["arm_right"], abs=1e-5)
    assert rest.forces["tyre_left"] == pytest.approx(rest.forces["tyre_right"], rel=1e-3)
    assert rest.undetermined == () and rest.stability == "stable"


def test_trapped_oil_gives_stiffness_at_equilibrium():
    """An arm on a cylinder whose valve is shut sinks until the oil carries it."""
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, -g],
        "bodies": {"a": {"mass": 100.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "transforms": [{"shift": "z", "coordinate": "z"}]}},
        "states": {"p": {"rate": "-1e9*der(z)", "start": 1e5, "unit": "Pa"}},
        "forces": {"oil": {"coordinate": "z", "value": "0.001*p"}},
    }
    rest = load(d).compile().equilibrium()
    assert rest.states["p"] == pytest.approx(100.0 * g / 0.001)
    assert rest.coordinates["z"] == pytest.approx(-(100.0 * g / 0.001 - 1e5) / 1e9)
    assert rest.undetermined == () and rest.stable


def test_slow_instability_is_detected_beside_fast_modes():
    """An unstable integral at +3.8e-6 beside eigenvalues of thousands; roundings of zero are not."""
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {"k": {"coordinate": "x", "stiffness": 1e6, "damping": 4e3}},
        "states": {"s": {"rate": "3.8e-6*s"}},
    }
    rest = load(d).compile().equilibrium()
    assert not rest.stable and rest.growing == pytest.approx([3.8e-6])
    d["states"]["s"]["rate"] = "0.0*s + x"
    assert load(d).compile().equilibrium().stable
    d["forces"]["k"] = {"coordinate": "x", "damping": 4e3}
    assert load(d).compile().equilibrium().stability == "indifferent"


def test_relief_valve_equilibrium_passes_the_pump_flow(capsys, recwarn):
    """Below its opening no flow depends on the pressure: it rises until one does."""
    d = {
        "format": "kinetree/1",
        "hydraulics": {
            "tank": {"pressure": 1e5},
            "line": {"volume": 3e-3, "start": 200e5},
            "pump": {"path": ["tank", "line"], "flow": 2e-3},
            "relief": {"path": ["line", "tank"], "opens": 230e5, "gain": 1e-8},
        },
    }
    rest = load(d).compile().equilibrium()
    assert rest.states["line.pressure"] == pytest.approx(230e5 + 2e-3 / 1e-8 + 1e5)
    assert not recwarn.list
    del d["hydraulics"]["relief"]
    with pytest.raises(EvaluationError, match=r"line\.pressure.*Pa") as caught:
        load(d).compile().equilibrium()
    assert "per second" in str(caught.value) and not recwarn.list


def test_preparations_are_reported_step_by_step(tmp_path, capsys: pytest.CaptureFixture):
    """A mass on two springs, prepared under half its weight: Python, terminal, JSON and CSV."""
    d = {
        "format": "kinetree/1",
        "name": "scale",
        "gravity": [0, 0, -g],
        "parameters": {"m": 4.0, "k": 1000.0},
        "bodies": {"a": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "transforms": [{"shift": "z", "coordinate": "z"}]}},
        "forces": {"k": {"coordinate": "z", "stiffness": "k"}},
        "run": {
            "stop_time": 1.0,
            "prepare": [{"name": "half", "set": {"m": 2.0}, "require": {"low": "z < 0"}}, {}],
        },
    }
    rests = load(d).compile().preparations
    assert list(rests) == ["half", "step 2"]
    for (name, rest), m in zip(rests.items(), (2.0, 4.0), strict=True):
        assert rest.coordinates["z"] == pytest.approx(-m * g / 1000.0), name
        assert rest.modes[0].frequency == pytest.approx(math.sqrt(1000.0 / m) / 2 / math.pi)
        assert not rest.outputs
    path, table = tmp_path / "scale.json", tmp_path / "scale.csv"
    path.write_text(json.dumps(d))
    assert cli.main(["statics", str(path), "-o", str(table)]) == 0
    told = capsys.readouterr().out
    assert "half" in told and "-19.6" in told and "-39.2" in told
    rows = list(csv.DictReader(table.open()))
    found = {row["state"]: row for row in rows if row["name"] == "z"}
    assert set(found) == {"half", "step 2", "at rest"}
    assert float(found["half"]["value"]) == pytest.approx(-2.0 * g / 1000.0)
    assert found["half"]["unit"] == "m"
    assert any(row["unit"] == "Hz" and row["state"] == "half" for row in rows)
    assert cli.main(["statics", str(path), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["preparations"]["half"]["coordinates"]["z"] == pytest.approx(-2.0 * g / 1000.0)


@pytest.mark.parametrize(
    ("direction", "text"),
    [
        ({"x": 1.0}, "x"),
        ({"x": 1.0, "y": -0.5, "z": 1e-9}, "x - 0.5 y"),
        ({"a": -1.0, "b": 0.25}, "-a + 0.25 b"),
        ({"p": 2e5, "q": 1e5}, "2e+05 p + 1e+05 q"),
    ],
)
def test_neutral_combinations_are_written_as_sums(direction: dict, text: str):
    assert neutral_combination(direction) == text


@pytest.mark.parametrize("name", ["spacecraft", "train", "gyroscope", "boom-drive"])
def test_equilibria_of_library_mechanisms_cause_no_warnings(name: str):
    """Denormal numbers beside large ones are no reason for warnings of numpy on the terminal."""
    system = load(f"lib:{name}").compile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert system.equilibrium().stability in ("stable", "indifferent")


def test_equilibrium_with_soft_joint_and_stiff_beam_hinges_is_found():
    """The boom on a cylinder that gives a force alone: 0.08 Hz beside hinges of 4 kHz; the luff angle is found and not called neutral."""
    rest = load("lib:boom", flexible=1).compile().equilibrium()
    assert rest.residual < 1e-9 and rest.iterations < 10
    assert not rest.undetermined
