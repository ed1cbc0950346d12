// A whole hydraulic drive in plain Modelica 3.4 without a library: pump, accumulator, relief and make-up valves, proportional valve, hoses, cylinder.
// The equations are those of `[hydraulics]` in a description; `ServoCircuit` has the numbers of lib:servo-drive.
// Load ServoDrive.mo and Interfaces.mo first.

model OilVolume "Oil in pipes, with the gas of an accumulator where `gas` is not 0"
  parameter Real volume = 1e-3 "[m3]";
  parameter Real bulk_modulus = 1.4e9 "[Pa]";
  parameter Real gas = 0 "volume of the gas at the precharge [m3]";
  parameter Real precharge = 140e5 "[Pa]";
  parameter Real exponent = 1.2 "polytropic";
  parameter Real start = 1e5 "[Pa]";
  OilPort port;
  Real pressure(start = start, fixed = true);
  Real gas_volume "[m3]";
  Real compliance "[m3/Pa]";
equation
  port.p = pressure;
  gas_volume = gas*(precharge/max(pressure, precharge))^(1/exponent);
  compliance = volume/bulk_modulus + (if pressure > precharge then gas_volume/(exponent*pressure) else 0);
  der(pressure) = port.q/compliance;
end OilVolume;

model Tank "A place of given pressure"
  parameter Real pressure = 2e5 "[Pa]";
  OilPort port;
equation
  port.p = pressure;
end Tank;

model LimitedPump "A given flow, cut back where the outlet comes near the limit"
  parameter Real flow_rate = 3e-4 "[m3/s]";
  parameter Real limit = 210e5 "pressure at which the flow is 0 [Pa]";
  parameter Real range = 5e5 "below the limit [Pa]";
  parameter Real leakage = 0 "[m3/(s.Pa)]";
  OilPort inlet;
  OilPort outlet;
equation
  inlet.q = flow_rate*min(max((limit - outlet.p)/range, 0), 1) - leakage*(outlet.p - inlet.p);
  outlet.q = -inlet.q;
end LimitedPump;

model CheckValve "Relief, check and make-up valves: opens in one direction above a pressure drop"
  parameter Real opens = 0 "drop at which it opens [Pa]";
  parameter Real gain = 1e-8 "flow per pressure drop above [m3/(s.Pa)]";
  OilPort a "inlet";
  OilPort b "outlet";
equation
  a.q = gain*max(a.p - b.p - opens, 0);
  b.q = -a.q;
end CheckValve;

model FourWayValve "Proportional valve with ports for supply and tank and a spool of second order"
  parameter Real rated_flow = 6e-4 "at full stroke and rated_drop [m3/s]";
  parameter Real rated_drop = 35e5 "over one edge [Pa]";
  parameter Real overlap = 0 "part of the stroke";
  parameter Real laminar = 1e5 "[Pa]";
  parameter Real frequency = 30 "of the spool [Hz]";
  parameter Real damping = 0.8 "damping ratio of the spool";
  parameter Real gain = rated_flow/sqrt(rated_drop);
  parameter Real w = 6.283185307179586*frequency;
  RealInput command "-1 to 1";
  OilPort supply;
  OilPort tank;
  OilPort a;
  OilPort b;
  Real spool(start = 0, fixed = true);
  Real spool_speed(start = 0, fixed = true);
  Real extend "opening of supply to a and of b to tank";
  Real retract "opening of supply to b and of a to tank";
  Real supply_a "flow";
  Real supply_b "flow";
  Real tank_a "flow out of the tank";
  Real tank_b "flow out of the tank";
equation
  der(spool) = spool_speed;
  der(spool_speed) = w*w*(min(max(command, -1), 1) - spool) - 2*damping*w*spool_speed;
  extend = min(max(spool - overlap, 0), 1);
  retract = min(max(-spool - overlap, 0), 1);
  supply_a = extend*orificeFlow(supply.p - a.p, gain, laminar);
  supply_b = retract*orificeFlow(supply.p - b.p, gain, laminar);
  tank_a = retract*orificeFlow(tank.p - a.p, gain, laminar);
  tank_b = extend*orificeFlow(tank.p - b.p, gain, laminar);
  supply.q = supply_a + supply_b;
  tank.q = tank_a + tank_b;
  a.q = -supply_a - tank_a;
  b.q = -supply_b - tank_b;
end FourWayValve;

model ServoCircuit "The drive lib:servo-drive behind one port: pump, accumulator, valves, hoses with elastic walls, cylinder"
  parameter Real load = 4256.454355978349 "force at the start [N]";
  parameter Real back = 50e5 "pressure of the ring side at the start [Pa]";
  parameter Real hose_modulus = 1/(1/1.4e9 + 1/2e9) "oil and walls [Pa]";
  RealInput command;
  DrivePort port;
  Tank tank;
  LimitedPump pump;
  OilVolume rail(gas = 2e-3, start = 210e5);
  CheckValve rail_relief(opens = 250e5, gain = 1e-9);
  FourWayValve servo(overlap = 0.03);
  CheckValve relief_a(opens = 280e5, gain = 1e-9);
  CheckValve relief_b(opens = 280e5, gain = 1e-9);
  CheckValve make_up_a;
  CheckValve make_up_b;
  PortedCylinder lift(oil(bulk_modulus = hose_modulus, start_a = (load + 3.2e-3*back)/5e-3, start_b = back));
equation
  servo.command = command;
  connect(pump.inlet, tank.port);
  connect(pump.outlet, rail.port);
  connect(rail_relief.a, rail.port);
  connect(rail_relief.b, tank.port);
  connect(servo.supply, rail.port);
  connect(servo.tank, tank.port);
  connect(servo.a, lift.a);
  connect(servo.b, lift.b);
  connect(relief_a.a, lift.a);
  connect(relief_a.b, tank.port);
  connect(relief_b.a, lift.b);
  connect(relief_b.b, tank.port);
  connect(make_up_a.a, tank.port);
  connect(make_up_a.b, lift.a);
  connect(make_up_b.a, tank.port);
  connect(make_up_b.b, lift.b);
  connect(port, lift.port);
end ServoCircuit;

model CircuitExample "The boom with the whole drive"
  BoomMechanism mechanism "replace it by the imported FMU";
  MechanismInterface lift;
  ServoCircuit drive;
equation
  drive.command = if time < 0.5 then 0 elseif time < 0.6 then 6*(time - 0.5) elseif time < 1.5 then 0.6 elseif time < 1.6 then 6*(1.6 - time) else 0;
  lift.length = mechanism.length;
  lift.speed = mechanism.speed;
  mechanism.force = lift.force;
  connect(lift.port, drive.port);
end CircuitExample;
