within Kinetree;
package Drives "Drives for the actuators of mechanisms"
  model ServoDrive "Valve and cylinder: command and motion in, force and stiffness out"
    Modelica.Blocks.Interfaces.RealInput command annotation(Placement(transformation(extent={{-140,50},{-100,90}})));
    Modelica.Blocks.Interfaces.RealInput length annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Modelica.Blocks.Interfaces.RealInput speed annotation(Placement(transformation(extent={{-140,-90},{-100,-50}})));
    Modelica.Blocks.Interfaces.RealOutput force annotation(Placement(transformation(extent={{100,60},{120,80}})));
    Modelica.Blocks.Interfaces.RealOutput stiffness annotation(Placement(transformation(extent={{100,-80},{120,-60}})));
    Hydraulics.ServoValve valve annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Hydraulics.Cylinder cylinder annotation(Placement(transformation(extent={{45,-15},{75,15}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end ServoDrive;

  model LinearDrive "Valve and cylinder behind one port"
    Modelica.Blocks.Interfaces.RealInput command annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Interfaces.DrivePort port annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Hydraulics.PortedValve valve annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Hydraulics.PortedCylinder cylinder annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    valve.command = command;
    connect(valve.a, cylinder.a);
    connect(valve.b, cylinder.b);
    connect(port, cylinder.port);
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end LinearDrive;

  model RotaryDrive "Valve and motor behind one port"
    Modelica.Blocks.Interfaces.RealInput command annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Interfaces.DrivePort port annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Hydraulics.PortedValve valve annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Hydraulics.PortedMotor motor annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    valve.command = command;
    connect(valve.a, motor.a);
    connect(valve.b, motor.b);
    connect(port, motor.port);
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end RotaryDrive;

  model FlangeDrive "Valve and cylinder with a translational flange, the other eye fixed"
    Modelica.Blocks.Interfaces.RealInput command annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Modelica.Mechanics.Translational.Interfaces.Flange_b flange annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    LinearDrive drive annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
  equation
    drive.command = command;
    drive.port.length = flange.s;
    drive.port.speed = der(flange.s);
    flange.f = -drive.port.force;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end FlangeDrive;

  model ServoCircuit "The drive lib:servo-drive behind one port: pump, accumulator, valves, hoses with elastic walls, cylinder"
    parameter Real load(unit = "N") = 4256.454355978349 "force at the start";
    parameter Real back(unit = "Pa") = 50e5 "pressure of the ring side at the start";
    parameter Real hose_modulus(unit = "Pa") = 1/(1/1.4e9 + 1/2e9) "oil and walls";
    Modelica.Blocks.Interfaces.RealInput command annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Interfaces.DrivePort port annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Hydraulics.Tank tank annotation(Placement(transformation(extent={{-75,35},{-45,65}})));
    Hydraulics.LimitedPump pump annotation(Placement(transformation(extent={{-35,35},{-5,65}})));
    Hydraulics.OilVolume rail(gas = 2e-3, start = 210e5) annotation(Placement(transformation(extent={{5,35},{35,65}})));
    Hydraulics.CheckValve rail_relief(opens = 250e5, gain = 1e-9) annotation(Placement(transformation(extent={{45,35},{75,65}})));
    Hydraulics.FourWayValve servo(overlap = 0.03) annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Hydraulics.CheckValve relief_a(opens = 280e5, gain = 1e-9) annotation(Placement(transformation(extent={{-35,-15},{-5,15}})));
    Hydraulics.CheckValve relief_b(opens = 280e5, gain = 1e-9) annotation(Placement(transformation(extent={{5,-15},{35,15}})));
    Hydraulics.CheckValve make_up_a annotation(Placement(transformation(extent={{45,-15},{75,15}})));
    Hydraulics.CheckValve make_up_b annotation(Placement(transformation(extent={{-75,-65},{-45,-35}})));
    Hydraulics.PortedCylinder lift(oil(bulk_modulus = hose_modulus, start_a = (load + 3.2e-3*back)/5e-3, start_b = back)) annotation(Placement(transformation(extent={{-35,-65},{-5,-35}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end ServoCircuit;

  model CarrierDrives "Both drives of the carrier: a motor slews the platform, a cylinder luffs the cradle; the names are those of the FMU of lib:carrier"
    Modelica.Blocks.Interfaces.RealInput slew_command "of the slewing valve, -1 to 1" annotation(Placement(transformation(extent={{-120,60},{-100,80}})));
    Modelica.Blocks.Interfaces.RealInput luff_command "of the luffing valve, -1 to 1" annotation(Placement(transformation(extent={{-120,32},{-100,52}})));
    Modelica.Blocks.Interfaces.RealInput slew_drive_length(unit = "rad") "angle of the platform" annotation(Placement(transformation(extent={{-120,4},{-100,24}})));
    Modelica.Blocks.Interfaces.RealInput slew_drive_speed annotation(Placement(transformation(extent={{-120,-24},{-100,-4}})));
    Modelica.Blocks.Interfaces.RealInput luff_drive_length(unit = "m") "of the cylinder" annotation(Placement(transformation(extent={{-120,-52},{-100,-32}})));
    Modelica.Blocks.Interfaces.RealInput luff_drive_speed annotation(Placement(transformation(extent={{-120,-80},{-100,-60}})));
    Modelica.Blocks.Interfaces.RealOutput slew_drive_force(unit = "N.m") annotation(Placement(transformation(extent={{100,60},{120,80}})));
    Modelica.Blocks.Interfaces.RealOutput slew_drive_stiffness annotation(Placement(transformation(extent={{100,13},{120,33}})));
    Modelica.Blocks.Interfaces.RealOutput luff_drive_force(unit = "N") annotation(Placement(transformation(extent={{100,-33},{120,-13}})));
    Modelica.Blocks.Interfaces.RealOutput luff_drive_stiffness annotation(Placement(transformation(extent={{100,-80},{120,-60}})));
    Interfaces.MechanismInterface slew annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Interfaces.MechanismInterface luff annotation(Placement(transformation(extent={{-35,-15},{-5,15}})));
    RotaryDrive slew_drive(motor(displacement = 2e-3, volume = 2e-3)) annotation(Placement(transformation(extent={{5,-15},{35,15}})));
    LinearDrive luff_drive(cylinder(oil(area_a = 2e-2, area_b = 1.2e-2, shortest = 0.72, longest = 2.15, volume_a = 1e-3, volume_b = 1e-3))) annotation(Placement(transformation(extent={{45,-15},{75,15}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end CarrierDrives;
  annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, radius=25, lineColor={128,128,128}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Text(extent={{-80,40},{80,-40}}, textString="D", textColor={64,64,64})}));
end Drives;
