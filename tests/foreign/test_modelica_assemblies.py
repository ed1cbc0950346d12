"""Assemblies, arrays, rotors and fields of Modelica.Mechanics.MultiBody against other ways to write them."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.foreign.modelica import describe

pytest.importorskip("pymoca")
DATA = Path(__file__).parents[1] / "data"
HEAD = """model M
  import MB = Modelica.Mechanics.MultiBody;
  inner MB.World world;
"""


def read(tmp_path: Path, body: str) -> tuple[dict, list[str]]:
    path = tmp_path / "m.mo"
    path.write_text(f"{HEAD}{body}\nend M;\n", encoding="utf-8")
    return describe(path)


def run(tmp_path: Path, body: str, stop: float, step: float, told: int = 0, outputs=None):
    description, left_out = read(tmp_path, body)
    assert len(left_out) == told, left_out
    description.setdefault("outputs", {}).update(outputs or {})
    return load(description).compile().simulate(stop_time=stop, output_step=step, tolerance=1e-10)


def test_assembly_four_bar_matches_modelica_standard_library(tmp_path):
    """JointSSP: the rod without mass is a distance, the slide has an offset."""
    result = run(
        tmp_path,
        """
  output Real slide;
  MB.Joints.Revolute j1(n={1,0,0}, phi(fixed=true), w(start=5.235987755983, fixed=true));
  MB.Parts.BodyCylinder b1(r={0,0.5,0.1}, diameter=0.05);
  MB.Parts.BodyCylinder b2(r={0,0.2,0}, diameter=0.05);
  MB.Parts.FixedTranslation b3(r={1.2,0,0});
  MB.Joints.Assemblies.JointSSP ssp(rod1Length=sqrt({-1,0.3,0.1}*{-1,0.3,0.1}), n_b={1,0,0},
    s_offset=-0.2, rRod2_ib={0,0.2,0});
equation
  slide = ssp.prismatic.distance;
  connect(j1.frame_b, b1.frame_a); connect(j1.frame_a, world.frame_b);
  connect(b3.frame_a, world.frame_b); connect(b1.frame_b, ssp.frame_a);
  connect(b3.frame_b, ssp.frame_b); connect(b2.frame_a, ssp.frame_ib);""",
        5.0,
        0.1,
    )
    with (DATA / "msl_four_bar2.csv").open() as file:
        head, *rows = csv.reader(file)
    reference = dict(zip(head, np.array(rows, float).T, strict=True))
    assert result["j1.phi"] == pytest.approx(reference["phi_j1"], abs=1e-7)
    assert result["slide"] == pytest.approx(reference["s_j2"], abs=1e-7)


CRANK = """
  MB.Joints.Revolute crank(phi(fixed=true, start=1), w(fixed=true, start=2));
  MB.Parts.BodyBox arm(r={0.5,0,0}, width=0.05);
  MB.Parts.FixedTranslation base(r={1.4,0,0});
  MB.Parts.Body rocker(m=2, r_CM={0.2,0.4,0}, I_33=0.1);
"""
LINKED = """
  connect(world.frame_b, crank.frame_a); connect(crank.frame_b, arm.frame_a);
  connect(world.frame_b, base.frame_a);
"""
SINGLE = """
  MB.Joints.Revolute pin(phi(start=0.2));
  MB.Joints.SphericalSpherical rod(rodLength=1.1);
  MB.Parts.FixedTranslation tip(r={0.3,0.8,0});
equation
  connect(base.frame_b, pin.frame_a); connect(pin.frame_b, rocker.frame_a);
  connect(pin.frame_b, tip.frame_a); connect(rod.frame_a, arm.frame_b);
  connect(rod.frame_b, tip.frame_b);"""
ASSEMBLED = """
  MB.Joints.Assemblies.{0};
equation
  connect(arm.frame_b, joint.frame_a); connect(base.frame_b, joint.frame_b);
  connect(joint.frame_ib, rocker.frame_a);"""
WITH_REVOLUTE = (
    "JointUSR joint(n1_a={0,1,0}, rRod1_ia={1.1,0,0}, rRod2_ib={0.3,0.8,0}, phi_guess=10)",
    "JointSSR joint(rod1Length=1.1, rRod2_ib={0.3,0.8,0}, phi_guess=10)",
    "JointRRR joint(rRod1_ia={1.1,0,0}, rRod2_ib={0.3,0.8,0}, phi_guess=10)",
)


def test_revolute_assemblies_match_single_joints(tmp_path):
    """Universal, spherical or revolute ends of the rod are the same in a plane."""
    reference = run(tmp_path, CRANK + SINGLE + LINKED, 1.0, 0.1)
    assert np.ptp(reference["crank.phi"]) > 1.0
    for joint in WITH_REVOLUTE:
        body = CRANK + ASSEMBLED.replace("{0}", joint) + LINKED
        result = run(tmp_path, body, 1.0, 0.1)
        assert result["crank.phi"] == pytest.approx(reference["crank.phi"], abs=1e-8), joint
        assert result["joint.revolute.phi"] == pytest.approx(reference["pin.phi"], abs=1e-8)


WITH_SLIDE = (
    "JointUSP joint(n1_a={0,1,0}, n_b={1,0,0}, rRod1_ia={1.1,0,0}, rRod2_ib={0,0,0})",
    "JointSSP joint(rod1Length=1.1, n_b={1,0,0}, rRod2_ib={0,0,0})",
    "JointRRP joint(n_b={1,0,0}, rRod1_ia={1.1,0,0}, rRod2_ib={0,0,0})",
)


@pytest.mark.parametrize("joint", WITH_SLIDE)
def test_prismatic_assemblies_match_slider_crank(tmp_path, joint):
    """x = r cos phi + sqrt(l² - r² sin² phi); the slide is measured from the base."""
    body = CRANK + ASSEMBLED.replace("{0}", joint) + LINKED
    result = run(tmp_path, body, 0.5, 0.1)
    phi = result["crank.phi"]
    x = 0.5 * np.cos(phi) + np.sqrt(1.1**2 - (0.5 * np.sin(phi)) ** 2)
    assert result["joint.prismatic.s"] == pytest.approx(x - 1.4, abs=1e-8)


STRUT = """
  MB.Joints.Assemblies.JointUPS joint(n1_a={0,1,0}, nAxis_ia={0.9,0.1,0.3}, s_offset=0.2);
  Modelica.Mechanics.Translational.Components.Spring spring(c=300, s_rel0=0.5);
equation
  connect(joint.frame_a, base.frame_b); connect(joint.frame_b, arm.frame_b);
  connect(spring.flange_a, joint.bearing); connect(spring.flange_b, joint.axis);
  connect(world.frame_b, crank.frame_a); connect(crank.frame_b, arm.frame_a);
  connect(world.frame_b, base.frame_a); connect(rocker.frame_a, arm.frame_b);"""
LINE = """
  MB.Forces.Spring spring(c=300, s_unstretched=0.7);
equation
  connect(spring.frame_a, base.frame_b); connect(spring.frame_b, arm.frame_b);
  connect(world.frame_b, crank.frame_a); connect(crank.frame_b, arm.frame_a);
  connect(world.frame_b, base.frame_a); connect(rocker.frame_a, arm.frame_b);"""


def test_spring_on_massless_strut_becomes_line_force(tmp_path):
    """JointUPS: bodies without mass in a loop; s = length - s_offset, so both springs are one."""
    above = CRANK.replace("{1.4,0,0}", "{1.4,0.3,0.4}")
    one, other = (run(tmp_path, above + text, 1.0, 0.1) for text in (STRUT, LINE))
    assert one["crank.phi"] == pytest.approx(other["crank.phi"], abs=1e-7)


def test_modelica_arrays_and_loops_are_expanded(tmp_path):
    """Three links of an array, masses by element, joints alike by `each`, a fourth one absent."""
    array = """
  parameter Integer n = 3;
  parameter Boolean long = false;
  parameter Real masses[:] = {1, 2, 3};
  MB.Joints.Revolute j[n](each phi(start=0.1), each n={0,0,1});
  MB.Parts.Body b[n](m=masses, each r_CM={0.25,0,0}, each I_33=0.02);
  MB.Parts.FixedTranslation rod[n](each r={0.5,0,0});
  MB.Parts.Body more(m=9, r_CM={0,0,0}) if long;
equation
  connect(world.frame_b, j[1].frame_a);
  connect(j.frame_b, b.frame_a);
  for i in 1:n loop
    connect(j[i].frame_b, rod[i].frame_a);
    if i < n then
      connect(rod[i].frame_b, j[i+1].frame_a);
    end if;
  end for;
  connect(rod[n].frame_b, more.frame_a);"""
    description, told = read(tmp_path, array)
    assert told == []
    assert [body["mass"] for body in description["bodies"].values()] == [1.0, 2.0, 3.0]
    starts = [joint["transforms"][-1]["start"] for joint in description["joints"].values()]
    assert starts == [0.1, 0.1, 0.1]
    system = load(description).compile()
    state = system.start()
    single = "".join(
        f"MB.Joints.Revolute j{k}(phi(start=0.1)); MB.Parts.FixedTranslation r{k}(r={{0.5,0,0}});"
        f"MB.Parts.Body b{k}(m={k}, r_CM={{0.25,0,0}}, I_33=0.02);\n"
        for k in (1, 2, 3)
    )
    wires = "connect(world.frame_b, j1.frame_a);" + "".join(
        f"connect(j{k}.frame_b, b{k}.frame_a); connect(j{k}.frame_b, r{k}.frame_a);"
        + (f"connect(r{k}.frame_b, j{k + 1}.frame_a);" if k < 3 else "")
        for k in (1, 2, 3)
    )
    other = load(read(tmp_path, f"{single}equation\n{wires}")[0]).compile()
    assert system.accelerations(0.0, *state) == pytest.approx(
        other.accelerations(0.0, *other.start()), rel=1e-12
    )


def test_unevaluable_modelica_conditions_are_named(tmp_path):
    _, told = read(
        tmp_path,
        """
  MB.Parts.Body b(m=1);
  MB.Parts.Body c(m=1) if secret;
equation
  connect(b.frame_a, c.frame_a);""",
    )
    assert len(told) == 1 and told[0].startswith("c (") and "secret" in told[0]


def test_modelica_classes_are_found_in_package_folders(tmp_path):
    """A base class and a replaced one lie in files beside, as large libraries are kept."""
    inner = tmp_path / "Cranes" / "Parts"
    inner.mkdir(parents=True)
    (tmp_path / "Cranes" / "package.mo").write_text("package Cranes end Cranes;")
    (inner / "package.mo").write_text("within Cranes; package Parts end Parts;")
    (inner / "Base.mo").write_text(
        "within Cranes.Parts;\npartial model Base\n  inner World world;\n  parameter Real mass = 1;\n"
        "  replaceable model Load = Light;\n  Load load(m=mass);\n  Joints.Revolute j;\n"
        "equation\n  connect(world.frame_b, j.frame_a); connect(j.frame_b, load.frame_a);\nend Base;"
    )
    for name, arm in (("Light", 1), ("Heavy", 3)):
        (inner / f"{name}.mo").write_text(
            f"within Cranes.Parts;\nmodel {name} = Modelica.Mechanics.MultiBody.Parts.Body("
            f"r_CM={{{arm},0,0}});"
        )
    path = tmp_path / "Cranes" / "Tower.mo"
    path.write_text(
        "within Cranes;\nmodel Tower\n  extends Parts.Base(mass=5, "
        "redeclare model Load = Cranes.Parts.Heavy);\nend Tower;"
    )
    description, told = describe(path)
    assert told == [] and description["bodies"]["load"]["mass"] == 5
    assert description["bodies"]["load"]["com"] == [3, 0, 0]


def test_modelica_rotor_in_housing_becomes_rotating_body(tmp_path):
    """Rotor1D on a cylinder that stands, or a cylinder that turns: one and the same gyroscope."""
    result = run(
        tmp_path,
        """
  inner MB.World gravity(driveTrainMechanics3D=true);
  MB.Joints.Spherical s1(angles_fixed=true, w_rel_a_fixed=true);
  MB.Joints.Spherical s2(angles_fixed=true, w_rel_a_fixed=true);
  MB.Parts.BodyCylinder a1(r={0.25,0,0}, diameter=0.05);
  MB.Parts.BodyCylinder a2(r={0.25,0,0}, diameter=0.05);
  MB.Parts.FixedRotation f1(n={0,1,0}, angle=45);
  MB.Parts.FixedRotation f2(n={0,1,0}, angle=45);
  MB.Joints.Revolute spin(n={1,0,0}, phi(fixed=true), w(fixed=true, start=10));
  MB.Parts.BodyCylinder c1(r={0.2,0,0}, diameter=0.1);
  MB.Parts.BodyCylinder c2(r={0.2,0,0}, diameter=0.1);
  MB.Parts.Rotor1D rotor(J=c2.I[1,1], n={1,0,0}, phi(fixed=true), w(fixed=true, start=10));
equation
  connect(world.frame_b, s1.frame_a); connect(s1.frame_b, a1.frame_a);
  connect(a1.frame_b, f1.frame_a); connect(f1.frame_b, spin.frame_a);
  connect(spin.frame_b, c1.frame_a); connect(world.frame_b, s2.frame_a);
  connect(s2.frame_b, a2.frame_a); connect(a2.frame_b, f2.frame_a);
  connect(f2.frame_b, c2.frame_a); connect(rotor.frame_a, f2.frame_b);""",
        1.0,
        0.1,
        outputs={
            "one": {"quantity": "position", "body": "a1", "point": [0.2, 0, 0]},
            "other": {"quantity": "position", "body": "c2", "point": [-0.05 / 2**0.5, 0, 0]},
        },
    )
    assert result["spin.phi"] == pytest.approx(result["rotor.phi"], abs=1e-9)
    for k in "xyz":
        assert result[f"s1.q{k}"] == pytest.approx(result[f"s2.q{k}"], abs=1e-9)


def test_modelica_springs_and_dampers_in_series_match(tmp_path):
    """Two springs without a mass between: one of c1 c2/(c1 + c2). A spring behind a damper creeps."""
    joint = "MB.Joints.Prismatic {0}(n={{0,-1,0}}, s(start=0.5)); MB.Parts.PointMass m{0}(m=2);\n"
    wires = "connect(world.frame_b, {0}.frame_a); connect({0}.frame_b, m{0}.frame_a);\n"
    result = run(
        tmp_path,
        joint.format("p")
        + joint.format("q")
        + """
  MB.Forces.Spring one(c=100, s_unstretched=0.2);
  MB.Forces.Spring two(c=300, s_unstretched=0.1);
  MB.Forces.SpringDamperSeries creep(c=50, d=20, s_unstretched=0.3, s_damper_start=0.1);
equation
  connect(one.frame_a, world.frame_b); connect(one.frame_b, two.frame_b);
  connect(two.frame_a, p.frame_b); connect(creep.frame_a, world.frame_b);
  connect(creep.frame_b, q.frame_b);
"""
        + wires.format("p")
        + wires.format("q"),
        1.0,
        0.1,
    )
    c, m, g, t = 75.0, 2.0, 9.80665, result.time
    rest = 0.3 + m * g / c
    assert result["p.s"] == pytest.approx(
        rest + (0.5 - rest) * np.cos(math.sqrt(c / m) * t), abs=1e-8
    )
    from scipy.integrate import solve_ivp

    def rates(t, y):
        pull = 50 * (y[0] - 0.3 - y[2])
        return [y[1], g - pull / m, pull / 20]

    known = solve_ivp(rates, (0, 1), [0.5, 0, 0.1], t_eval=t, rtol=1e-11, atol=1e-12).y[0]
    assert result["q.s"] == pytest.approx(known, abs=1e-8)


def test_modelica_point_gravity_attracts_bodies(tmp_path):
    """A circular orbit: r = 2 m, mu = 5 m3/s2, so w = sqrt(mu/r³)."""
    w = math.sqrt(5 / 8)
    body = f"""
  MB.Parts.PointMass m(m=3, r_0(start={{2,0,0}}), v_0(start={{0,{2 * w},0}}));
equation
"""
    text = HEAD.replace("world;", "world(gravityType=GravityTypes.PointGravity, mu=5);")
    path = tmp_path / "m.mo"
    path.write_text(f"{text}{body}\nend M;\n", encoding="utf-8")
    description, told = describe(path)
    assert told == []
    result = load(description).compile().simulate(stop_time=3.0, output_step=0.5, tolerance=1e-10)
    assert result["m.r_0_1"] == pytest.approx(2 * np.cos(w * result.time), abs=1e-8)


def test_modelica_forces_and_sensors_use_axes_of_their_frames(tmp_path):
    """A force of three sources in the axes of a turned frame; a velocity as its sensor sees it."""
    result = run(
        tmp_path,
        """
  MB.Joints.Revolute j(phi(fixed=true, start=0.5), w(fixed=true, start=3));
  MB.Parts.Body b(m=1, r_CM={1,0,0}, I_33=0.5);
  MB.Parts.FixedTranslation tip(r={1,0,0});
  MB.Parts.FixedRotation side(n={0,0,1}, angle=90);
  MB.Forces.WorldForce push(resolveInFrame=Types.ResolveInFrameB.frame_b);
  Modelica.Blocks.Sources.Constant f[3](k={7,0,0});
  MB.Sensors.AbsoluteVelocity v;
equation
  connect(world.frame_b, j.frame_a); connect(j.frame_b, b.frame_a);
  connect(j.frame_b, tip.frame_a); connect(tip.frame_b, side.frame_a);
  connect(tip.frame_b, v.frame_a); connect(side.frame_b, push.frame_b);
  connect(f.y, push.force);""",
        0.0,
        0.1,
    )
    assert [result[f"v[{k}]"][0] for k in (1, 2, 3)] == pytest.approx([0, 3, 0], abs=1e-12)
    # the force is tangential: 7 N at 1 m against the weight
    expected = (7 - 9.80665 * math.cos(0.5)) / 1.5
    system = load(tmp_path / "m.mo").compile()
    assert system.accelerations(0.0, *system.start())[0] == pytest.approx(expected, rel=1e-9)


def test_modelica_wheels_roll_without_slip(tmp_path):
    """An upright wheel on a straight way: no loss of energy, x = radius times angle."""
    text = HEAD.replace("world;", "world(n={0,0,-1});")
    path = tmp_path / "m.mo"
    path.write_text(
        f"{text}  MB.Parts.RollingWheel w(radius=0.3, m=2, I_axis=0.06, I_long=0.12, x(start=0.2),"
        " der_angles(start={0,5,0}));\nend M;\n",
        encoding="utf-8",
    )
    description, told = describe(path)
    assert told == []
    description["outputs"] = {"r": {"quantity": "position", "body": "w"}}
    result = load(description).compile().simulate(stop_time=1.0, output_step=0.5, tolerance=1e-9)
    assert result["r[1]"] == pytest.approx(0.2 + 1.5 * result.time, abs=1e-7)
    assert result["r[3]"] == pytest.approx(0.3 + 0 * result.time, abs=1e-9)
