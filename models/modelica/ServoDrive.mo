// A hydraulic servo drive in plain Modelica 3.4, without a library: the same equations as the drive of `kinetree cosim`.
// Interface: `length` and `speed` come from an actuator's outputs, `force` goes to its input, `stiffness` to the told stiffness.

connector RealInput = input Real;
connector RealOutput = output Real;

function orificeFlow "Flow through an open edge: the root of the pressure drop, linear around zero"
  input Real drop "pressure difference [Pa]";
  input Real gain "flow per root of pressure [m3/(s.Pa^0.5)]";
  input Real laminar "drop below which the flow is laminar [Pa]";
  output Real flow_ "[m3/s]";
algorithm
  flow_ := gain*drop/(drop*drop + laminar*laminar)^0.25;
end orificeFlow;

model ServoValve "Four-way proportional valve with a first-order spool, relief and make-up valves"
  parameter Real supply = 210e5 "[Pa]";
  parameter Real tank = 5e5 "[Pa]";
  parameter Real rated_flow = 6e-4 "at full stroke and rated_drop [m3/s]";
  parameter Real rated_drop = 35e5 "over one edge [Pa]";
  parameter Real overlap = 0 "part of the stroke";
  parameter Real time_constant = 0.01 "of the spool [s]";
  parameter Real laminar = 1e5 "[Pa]";
  parameter Real relief = 280e5 "[Pa]";
  parameter Real relief_gain = 1e-9 "[m3/(s.Pa)]";
  parameter Real make_up_gain = 1e-9 "[m3/(s.Pa)]";
  parameter Real gain = rated_flow/sqrt(rated_drop);
  RealInput command "of the spool, -1 to 1";
  RealInput pressure_a;
  RealInput pressure_b;
  RealOutput flow_a "into side a";
  RealOutput flow_b "into side b";
  Real spool(start = 0, fixed = true);
  Real extend "opening that lets oil into side a";
  Real retract "opening that lets oil into side b";
equation
  der(spool) = (command - spool)/time_constant;
  extend = max(spool - overlap, 0);
  retract = max(-spool - overlap, 0);
  flow_a = extend*orificeFlow(supply - pressure_a, gain, laminar) + retract*orificeFlow(tank - pressure_a, gain, laminar)
    + make_up_gain*max(tank - pressure_a, 0) - relief_gain*max(pressure_a - relief, 0);
  flow_b = retract*orificeFlow(supply - pressure_b, gain, laminar) + extend*orificeFlow(tank - pressure_b, gain, laminar)
    + make_up_gain*max(tank - pressure_b, 0) - relief_gain*max(pressure_b - relief, 0);
end ServoValve;

model Cylinder "Oil of a double-acting cylinder"
  parameter Real area_a = 5e-3 "[m2]";
  parameter Real area_b = 3.2e-3 "[m2]";
  parameter Real volume_a = 0.5e-3 "dead volume [m3]";
  parameter Real volume_b = 0.5e-3 "dead volume [m3]";
  parameter Real shortest = 1.35 "[m]";
  parameter Real longest = 2.35 "[m]";
  parameter Real bulk_modulus = 1.4e9 "[Pa]";
  parameter Real leakage = 0 "past the piston [m3/(s.Pa)]";
  parameter Real start_a = 44.5e5 "[Pa]";
  parameter Real start_b = 56.25e5 "[Pa]";
  RealInput length;
  RealInput speed;
  RealInput flow_a;
  RealInput flow_b;
  RealOutput pressure_a(start = start_a, fixed = true);
  RealOutput pressure_b(start = start_b, fixed = true);
  RealOutput force "pushes the two points apart";
  RealOutput stiffness "dF/ds with closed valves, negative";
  Real oil_a "volume";
  Real oil_b "volume";
equation
  assert(length > shortest and length < longest, "the actuator is longer or shorter than its cylinder");
  oil_a = volume_a + area_a*(length - shortest);
  oil_b = volume_b + area_b*(longest - length);
  der(pressure_a) = bulk_modulus/oil_a*(flow_a - area_a*speed - leakage*(pressure_a - pressure_b));
  der(pressure_b) = bulk_modulus/oil_b*(flow_b + area_b*speed + leakage*(pressure_a - pressure_b));
  force = area_a*pressure_a - area_b*pressure_b;
  stiffness = -bulk_modulus*(area_a*area_a/oil_a + area_b*area_b/oil_b);
end Cylinder;

model ServoDrive "Valve and cylinder: command and motion in, force and stiffness out"
  RealInput command;
  RealInput length;
  RealInput speed;
  RealOutput force;
  RealOutput stiffness;
  ServoValve valve;
  Cylinder cylinder;
equation
  valve.command = command;
  valve.pressure_a = cylinder.pressure_a;
  valve.pressure_b = cylinder.pressure_b;
  cylinder.flow_a = valve.flow_a;
  cylinder.flow_b = valve.flow_b;
  cylinder.length = length;
  cylinder.speed = speed;
  force = cylinder.force;
  stiffness = cylinder.stiffness;
end ServoDrive;

model HoldingExample "The drive on a mass: opens the valve for a while and holds"
  parameter Real mass = 1400 "effective mass [kg]";
  parameter Real load = 4250 "[N]";
  Real length(start = 1.86, fixed = true);
  Real speed(start = 0, fixed = true);
  ServoDrive drive;
equation
  drive.command = if time < 0.2 then 0 elseif time < 0.7 then 0.5 else 0;
  drive.length = length;
  drive.speed = speed;
  der(length) = speed;
  mass*der(speed) = drive.force - load;
end HoldingExample;
