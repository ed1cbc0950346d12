// Interface blocks between the FMU of a mechanism and its drives, and examples with connectors, in plain Modelica 3.4 without a library.
// Load ServoDrive.mo first: the valve, the cylinder and the flow through an edge are from there.
//
// A mechanism's FMU has, per actuator: inputs force, stiffness, damping; outputs length, speed (m and m/s, or rad and rad/s on a coordinate).
// `ActuatorPort` bundles them on the mechanism's side, `DrivePort` on the drive's side; one `connect` joins a drive and a mechanism.

connector ActuatorPort "An actuator of the mechanism: motion goes out, force comes in"
  output Real length "[m or rad]";
  output Real speed "[m/s or rad/s]";
  input Real force "positive where it extends [N or N.m]";
  input Real stiffness "dF/ds, negative [N/m or N.m/rad]";
end ActuatorPort;

connector DrivePort "A drive: motion comes in, force goes out"
  input Real length;
  input Real speed;
  output Real force;
  output Real stiffness;
end DrivePort;

connector OilPort "A hydraulic connection"
  Real p "pressure, absolute [Pa]";
  flow Real q "flow into the component [m3/s]";
end OilPort;

block MechanismInterface "Between the signals of an imported FMU and a drive's port"
  RealInput length "from the FMU's ACTUATOR.length";
  RealInput speed "from the FMU's ACTUATOR.speed, or ACTUATOR.mean_speed where the FMU is for co-simulation";
  RealOutput force "to the FMU's ACTUATOR.force";
  RealOutput stiffness "to the FMU's ACTUATOR.stiffness, where the FMU is for co-simulation";
  ActuatorPort port;
equation
  port.length = length;
  port.speed = speed;
  force = port.force;
  stiffness = port.stiffness;
end MechanismInterface;

model PortedValve "The four-way valve with hydraulic connectors"
  RealInput command "of the spool, -1 to 1";
  OilPort a;
  OilPort b;
  ServoValve valve;
equation
  valve.command = command;
  valve.pressure_a = a.p;
  valve.pressure_b = b.p;
  a.q = -valve.flow_a;
  b.q = -valve.flow_b;
end PortedValve;

model PortedCylinder "The cylinder with hydraulic connectors and a port to the mechanism"
  OilPort a;
  OilPort b;
  DrivePort port;
  Cylinder oil;
equation
  a.p = oil.pressure_a;
  b.p = oil.pressure_b;
  oil.flow_a = a.q;
  oil.flow_b = b.q;
  oil.length = port.length;
  oil.speed = port.speed;
  port.force = oil.force;
  port.stiffness = oil.stiffness;
end PortedCylinder;

model PortedMotor "Hydraulic motor with its gear on a rotary actuator"
  parameter Real displacement = 2e-4 "per radian of the driven axis [m3/rad]";
  parameter Real volume = 1e-3 "of the oil on either side [m3]";
  parameter Real bulk_modulus = 1.4e9 "[Pa]";
  parameter Real leakage = 0 "between the sides [m3/(s.Pa)]";
  parameter Real start_a = 50e5 "[Pa]";
  parameter Real start_b = 50e5 "[Pa]";
  OilPort a;
  OilPort b;
  DrivePort port;
  Real pressure_a(start = start_a, fixed = true);
  Real pressure_b(start = start_b, fixed = true);
equation
  a.p = pressure_a;
  b.p = pressure_b;
  der(pressure_a) = bulk_modulus/volume*(a.q - displacement*port.speed - leakage*(pressure_a - pressure_b));
  der(pressure_b) = bulk_modulus/volume*(b.q + displacement*port.speed + leakage*(pressure_a - pressure_b));
  port.force = displacement*(pressure_a - pressure_b);
  port.stiffness = -2*bulk_modulus*displacement*displacement/volume;
end PortedMotor;

model LinearDrive "Valve and cylinder behind one port"
  RealInput command;
  DrivePort port;
  PortedValve valve;
  PortedCylinder cylinder;
equation
  valve.command = command;
  connect(valve.a, cylinder.a);
  connect(valve.b, cylinder.b);
  connect(port, cylinder.port);
end LinearDrive;

model RotaryDrive "Valve and motor behind one port"
  RealInput command;
  DrivePort port;
  PortedValve valve;
  PortedMotor motor;
equation
  valve.command = command;
  connect(valve.a, motor.a);
  connect(valve.b, motor.b);
  connect(port, motor.port);
end RotaryDrive;

model BoomMechanism "The mechanism lib:boom written out, in the place of its FMU"
  parameter Real reach = 3.2;
  parameter Real boom_mass = 150;
  parameter Real load_mass = 70;
  parameter Real eye = 1.5;
  parameter Real foot_x = 0.6;
  parameter Real foot_z = -1;
  parameter Real friction = 100;
  parameter Real g = 9.81;
  parameter Real inertia = boom_mass*(reach/2)^2 + boom_mass*reach^2*1.005/12 + load_mass*reach^2;
  RealInput force;
  RealOutput length;
  RealOutput speed;
  Real luff(start = 0.5, fixed = true);
  Real rate(start = 0, fixed = true);
  Real lever "change of the length with the angle";
equation
  length = sqrt((eye*cos(luff) - foot_x)^2 + (eye*sin(luff) - foot_z)^2);
  lever = eye*(foot_x*sin(luff) - foot_z*cos(luff))/length;
  speed = lever*rate;
  der(luff) = rate;
  inertia*der(rate) = force*lever - (boom_mass/2 + load_mass)*reach*g*cos(luff) - friction*rate;
end BoomMechanism;

model BoomExample "Mechanism, interface block and drive: what the composition with the FMU looks like"
  BoomMechanism mechanism "replace it by the imported FMU";
  MechanismInterface lift;
  parameter Real length = sqrt((1.5*cos(0.5) - 0.6)^2 + (1.5*sin(0.5) + 1)^2) "at the start";
  parameter Real hold = (150/2 + 70)*3.2*9.81*cos(0.5)*length/(1.5*(0.6*sin(0.5) + cos(0.5))) "force that holds the boom at the start";
  LinearDrive drive(cylinder(oil(start_a = (hold + 3.2e-3*56.25e5)/5e-3, start_b = 56.25e5)));
equation
  drive.command = if time < 0.2 then 0 elseif time < 0.3 then 6*(time - 0.2) elseif time < 0.8 then 0.6 elseif time < 0.9 then 6*(0.9 - time) else 0;
  lift.length = mechanism.length;
  lift.speed = mechanism.speed;
  mechanism.force = lift.force;
  connect(lift.port, drive.port);
end BoomExample;

model CarrierDrives "Both drives of the carrier: a motor slews the platform, a cylinder luffs the cradle; the names are those of the FMU of lib:carrier"
  RealInput slew_command "of the slewing valve, -1 to 1";
  RealInput luff_command "of the luffing valve, -1 to 1";
  RealInput slew_drive_length "angle of the platform [rad]";
  RealInput slew_drive_speed;
  RealInput luff_drive_length "of the cylinder [m]";
  RealInput luff_drive_speed;
  RealOutput slew_drive_force "[N.m]";
  RealOutput slew_drive_stiffness;
  RealOutput luff_drive_force "[N]";
  RealOutput luff_drive_stiffness;
  MechanismInterface slew;
  MechanismInterface luff;
  RotaryDrive slew_drive(motor(displacement = 2e-3, volume = 2e-3));
  LinearDrive luff_drive(cylinder(oil(area_a = 2e-2, area_b = 1.2e-2, shortest = 0.72, longest = 2.15, volume_a = 1e-3, volume_b = 1e-3)));
equation
  slew_drive.command = slew_command;
  luff_drive.command = luff_command;
  slew.length = slew_drive_length;
  slew.speed = slew_drive_speed;
  luff.length = luff_drive_length;
  luff.speed = luff_drive_speed;
  slew_drive_force = slew.force;
  slew_drive_stiffness = slew.stiffness;
  luff_drive_force = luff.force;
  luff_drive_stiffness = luff.stiffness;
  connect(slew.port, slew_drive.port);
  connect(luff.port, luff_drive.port);
end CarrierDrives;

model CarrierExample "Both drives on a slewing moment of inertia and a mass on the cylinder, in the place of the carrier's FMU"
  parameter Real inertia = 2e4 "[kg.m2]";
  parameter Real mass = 6000 "effective mass on the cylinder [kg]";
  parameter Real load = 60e3 "[N]";
  Real angle(start = 0, fixed = true);
  Real turning(start = 0, fixed = true);
  Real length(start = 0.9, fixed = true);
  Real speed(start = 0, fixed = true);
  CarrierDrives drives(luff_drive(cylinder(oil(start_a = 60e5, start_b = 50e5))));
equation
  drives.slew_command = if time < 0.5 then 0.2 else 0;
  drives.luff_command = if time < 0.5 then 0 else 0.2;
  drives.slew_drive_length = angle;
  drives.slew_drive_speed = turning;
  drives.luff_drive_length = length;
  drives.luff_drive_speed = speed;
  der(angle) = turning;
  inertia*der(turning) = drives.slew_drive_force;
  der(length) = speed;
  mass*der(speed) = drives.luff_drive_force - load;
end CarrierExample;

connector TranslationalFlange "As Flange of Modelica.Mechanics.Translational, to which it connects"
  Real s "position [m]";
  flow Real f "cut force into the component [N]";
end TranslationalFlange;

model FlangeDrive "Valve and cylinder with a translational flange, the other eye fixed"
  RealInput command;
  TranslationalFlange flange;
  LinearDrive drive;
equation
  drive.command = command;
  drive.port.length = flange.s;
  drive.port.speed = der(flange.s);
  flange.f = -drive.port.force;
end FlangeDrive;

model FlangeMass "A mass under a load"
  parameter Real mass = 1400;
  parameter Real load = 4250;
  TranslationalFlange flange;
  Real s(start = 1.86, fixed = true);
  Real v(start = 0, fixed = true);
equation
  flange.s = s;
  der(s) = v;
  mass*der(v) = flange.f - load;
end FlangeMass;

model FlangeExample "A mass on the drive's flange"
  FlangeMass mass;
  FlangeDrive drive;
equation
  drive.command = if time < 0.2 then 0 elseif time < 0.7 then 0.5 else 0;
  connect(mass.flange, drive.flange);
end FlangeExample;
