"""Models of Modelica.Mechanics.MultiBody, written for tests."""

DOUBLE_PENDULUM = """
model DoublePendulum
  inner Modelica.Mechanics.MultiBody.World world;
  Modelica.Mechanics.MultiBody.Joints.Revolute upper(useAxisFlange=true, phi(fixed=true), w(fixed=true));
  Modelica.Mechanics.Rotational.Components.Damper damper(d=0.1);
  Modelica.Mechanics.MultiBody.Parts.BodyBox box1(r={0.5,0,0}, width=0.06);
  Modelica.Mechanics.MultiBody.Joints.Revolute lower(phi(fixed=true, start=0.3), w(fixed=true, start=-1));
  Modelica.Mechanics.MultiBody.Parts.BodyBox box2(r={0.5,0,0}, width=0.06);
equation
  connect(damper.flange_b, upper.axis);
  connect(upper.support, damper.flange_a);
  connect(upper.frame_b, box1.frame_a);
  connect(lower.frame_b, box2.frame_a);
  connect(box1.frame_b, lower.frame_a);
  connect(world.frame_b, upper.frame_a);
end DoublePendulum;
"""

# the spatial four-bar of the Modelica Standard Library: its numbers, in a text of its own
FOUR_BAR = """
model SpatialFourBar
  import MB = Modelica.Mechanics.MultiBody;
  parameter Real width = 0.05;
  parameter Real offset[3] = {0.2, 0, 0} + {1, 0, 0};
  output Real slide;
  inner MB.World world(g = 9.80665, n = {0,-1,0});
  MB.Joints.Revolute j1(n={1,0,0}, phi(fixed=true), w(start=5.235987755982989, fixed=true));
  MB.Joints.Prismatic j2(n={1,0,0}, s(start=-0.2));
  MB.Parts.BodyCylinder b1(r={0,0.5,0.1}, diameter=width);
  MB.Parts.BodyCylinder b2(r={0,0.2,0}, diameter=width);
  MB.Parts.BodyCylinder b3(r={-1,0.3,0.1}, diameter=width);
  MB.Joints.Revolute ra(n={0,1,0});
  MB.Joints.Revolute rb;
  MB.Joints.Revolute j3(n={1,0,0});
  MB.Joints.Revolute j4(n={0,1,0});
  MB.Joints.Revolute j5(n={0,0,1});
  MB.Parts.FixedTranslation b0(r=offset, animation=false);
  MB.Visualizers.FixedFrame picture;
equation
  connect(j2.frame_b, b2.frame_a);
  connect(j1.frame_b, b1.frame_a);
  connect(ra.frame_a, b2.frame_b);
  connect(ra.frame_b, rb.frame_a);
  connect(rb.frame_b, b3.frame_a);
  connect(world.frame_b, j1.frame_a);
  connect(b1.frame_b, j3.frame_a);
  connect(j3.frame_b, j4.frame_a);
  connect(j4.frame_b, j5.frame_a);
  connect(j5.frame_b, b3.frame_b);
  connect(b0.frame_a, world.frame_b);
  connect(b0.frame_b, j2.frame_a);
  connect(picture.frame_a, b3.frame_a);
  slide = j2.s;
end SpatialFourBar;
"""

NESTED = """
package Machines
  model Link "a bar on a hinge"
    parameter Real L = 1;
    parameter Real m = 2;
    Modelica.Mechanics.MultiBody.Interfaces.Frame_a a;
    Modelica.Mechanics.MultiBody.Interfaces.Frame_b b;
    Modelica.Mechanics.MultiBody.Joints.Revolute hinge(n={0,1,0}, phi(start=0.1*L));
    Modelica.Mechanics.MultiBody.Parts.BodyShape bar(r={L,0,0}, r_CM={L/2,0,0}, m=m,
      I_11=0.01, I_22=m*L^2/12, I_33=m*L^2/12, I_21=if L > 1 then 0.001 else 0);
  equation
    connect(a, hinge.frame_a);
    connect(hinge.frame_b, bar.frame_a);
    connect(bar.frame_b, b);
  end Link;
  model Chain
    inner Modelica.Mechanics.MultiBody.World world(n={0,0,-1}, g=9.81);
    parameter Real long = sqrt(4);
    Link first(L=long);
    Link second(L=0.5, bar(m=7));
    Modelica.Mechanics.MultiBody.Parts.FixedRotation turned(n={1,0,0}, angle=90, r={0.1,0,0});
    Modelica.Mechanics.MultiBody.Sensors.AbsolutePosition tip;
    Modelica.Mechanics.MultiBody.Sensors.CutForce cut;
  equation
    connect(world.frame_b, first.a);
    connect(first.b, turned.frame_a);
    connect(turned.frame_b, second.a);
    connect(second.b, tip.frame_a);
  end Chain;
end Machines;
"""

DRIVEN = """
model Driven
  inner World world(gravityType=GravityTypes.NoGravity);
  Joints.Revolute wheel(useAxisFlange=true, w(start=2));
  Parts.Body rim(r_CM={0,0,0}, m=1, I_33=0.5);
  Rotational.Components.Inertia motor(J=1.5);
  Rotational.Sources.Torque drive;
  Blocks.Sources.Constant torque(k=4);
  Joints.Prismatic slide(useAxisFlange=true, s(start=0.2), n={0,1,0});
  Parts.PointMass load(m=2);
  Translational.Components.SpringDamper spring(c=50, d=0.3, s_rel0=0.05);
  Translational.Components.Fixed wall;
  Translational.Sources.Force push;
equation
  connect(world.frame_b, wheel.frame_a);
  connect(wheel.frame_b, rim.frame_a);
  connect(motor.flange_a, wheel.axis);
  connect(drive.flange, wheel.axis);
  connect(torque.y, drive.tau);
  connect(world.frame_b, slide.frame_a);
  connect(slide.frame_b, load.frame_a);
  connect(spring.flange_a, slide.axis);
  connect(spring.flange_b, wall.flange);
  connect(push.flange, slide.axis);
end Driven;
"""

LOOSE = """
model Loose
  inner Modelica.Mechanics.MultiBody.World world(n={0,0,-1}, g=9.81);
  Modelica.Mechanics.MultiBody.Parts.Body stone(m=2, r_CM={0.1,0,0}, I_11=0.1, I_22=0.2, I_33=0.15,
    r_0(start={1,2,3}, fixed=true), v_0(start={0.5,0,0}), angles_start={0.2,-0.3,0.4}, w_0_start={0,1,2});
  Modelica.Mechanics.MultiBody.Parts.PointMass bead(m=0.5, r_0(start={0,0,-1}), v_0(start={0,1,0}));
  Modelica.Mechanics.MultiBody.Forces.Spring spring(c=100, s_unstretched=0.8);
  Modelica.Mechanics.MultiBody.Joints.SphericalSpherical rod(rodLength=2);
  Modelica.Mechanics.MultiBody.Parts.PointMass bob(m=1, r_0(start={2,0,0}));
equation
  connect(world.frame_b, spring.frame_a);
  connect(spring.frame_b, bead.frame_a);
  connect(world.frame_b, rod.frame_a);
  connect(rod.frame_b, bob.frame_a);
end Loose;
"""
ARRAYS = """
model Arrays
  inner World world(driveTrainMechanics3D=true);
  parameter Integer n = 2;
  parameter Real masses[:] = {1, 2};
  Joints.Revolute j[n](each phi(start=0.1), each n={0,0,1});
  Parts.Body b[n](m=masses, each r_CM={0.25,0,0}, each I_33=0.02);
  Parts.FixedTranslation rod[n](each r={0.5,0,0});
  Joints.Assemblies.JointRRP slider(n_b={1,0,0}, rRod1_ia={1.1,0,0}, rRod2_ib={0,0,0});
  Joints.Assemblies.JointUPS strut(n1_a={0,1,0}, nAxis_ia={0.9,0.1,0.3});
  Translational.Components.Spring spring(c=300, s_rel0=0.5);
  Parts.Body more(m=9, r_CM={0,0,0}) if n > 1;
  Parts.Rotor1D rotor(J=0.1, n={1,0,0});
  Forces.SpringDamperSeries creep(c=50, d=20, s_unstretched=0.3);
  Forces.WorldForce push;
  Blocks.Sources.Constant f[3](k={7,0,0});
  Sensors.RelativeSensor seen(get_r_rel=true);
equation
  connect(world.frame_b, j[1].frame_a);
  connect(j.frame_b, b.frame_a);
  for i in 1:n loop
    connect(j[i].frame_b, rod[i].frame_a);
    if i < n then
      connect(rod[i].frame_b, j[i+1].frame_a);
    end if;
  end for;
  connect(rod[1].frame_b, slider.frame_a); connect(world.frame_b, slider.frame_b);
  connect(slider.frame_ib, more.frame_a); connect(strut.frame_a, world.frame_b);
  connect(strut.frame_b, rod[2].frame_b); connect(spring.flange_a, strut.bearing);
  connect(spring.flange_b, strut.axis); connect(rotor.frame_a, b[1].frame_a);
  connect(creep.frame_a, world.frame_b); connect(creep.frame_b, b[2].frame_a);
  connect(push.frame_b, b[1].frame_a); connect(f.y, push.force);
  connect(seen.frame_a, world.frame_b); connect(seen.frame_b, b[1].frame_a);
end Arrays;
"""

MODELS = (ARRAYS, DOUBLE_PENDULUM, FOUR_BAR, NESTED, DRIVEN, LOOSE)
