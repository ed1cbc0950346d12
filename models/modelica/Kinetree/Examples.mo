within Kinetree;
package Examples "What runs by itself: drives on masses, on the boom, on the carrier"
  model HoldingExample "The drive on a mass: opens the valve for a while and holds"
    parameter Real mass(unit = "kg") = 1400 "effective mass";
    parameter Real load(unit = "N") = 4250;
    Real length(start = 1.86, fixed = true);
    Real speed(start = 0, fixed = true);
    Drives.ServoDrive drive annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
  equation
    drive.command = if time < 0.2 then 0 elseif time < 0.7 then 0.5 else 0;
    drive.length = length;
    drive.speed = speed;
    der(length) = speed;
    mass*der(speed) = drive.force - load;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end HoldingExample;

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
    Modelica.Blocks.Interfaces.RealInput force annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Modelica.Blocks.Interfaces.RealOutput length annotation(Placement(transformation(extent={{100,60},{120,80}})));
    Modelica.Blocks.Interfaces.RealOutput speed annotation(Placement(transformation(extent={{100,-80},{120,-60}})));
    Real luff(start = 0.5, fixed = true);
    Real rate(start = 0, fixed = true);
    Real lever "change of the length with the angle";
  equation
    length = sqrt((eye*cos(luff) - foot_x)^2 + (eye*sin(luff) - foot_z)^2);
    lever = eye*(foot_x*sin(luff) - foot_z*cos(luff))/length;
    speed = lever*rate;
    der(luff) = rate;
    inertia*der(rate) = force*lever - (boom_mass/2 + load_mass)*reach*g*cos(luff) - friction*rate;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end BoomMechanism;

  model BoomExample "Mechanism, interface block and drive: what the composition with the FMU looks like"
    BoomMechanism mechanism "replace it by the imported FMU" annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Interfaces.MechanismInterface lift annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
    parameter Real length = sqrt((1.5*cos(0.5) - 0.6)^2 + (1.5*sin(0.5) + 1)^2) "at the start";
    parameter Real hold = (150/2 + 70)*3.2*9.81*cos(0.5)*length/(1.5*(0.6*sin(0.5) + cos(0.5))) "force that holds the boom at the start";
    Drives.LinearDrive drive(cylinder(oil(start_a = (hold + 3.2e-3*56.25e5)/5e-3, start_b = 56.25e5))) annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    drive.command = if time < 0.2 then 0 elseif time < 0.3 then 6*(time - 0.2) elseif time < 0.8 then 0.6 elseif time < 0.9 then 6*(0.9 - time) else 0;
    lift.length = mechanism.length;
    lift.speed = mechanism.speed;
    mechanism.force = lift.force;
    connect(lift.port, drive.port);
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end BoomExample;

  model CarrierExample "Both drives on a slewing moment of inertia and a mass on the cylinder, in the place of the carrier's FMU"
    parameter Real inertia(unit = "kg.m2") = 2e4;
    parameter Real mass(unit = "kg") = 6000 "effective mass on the cylinder";
    parameter Real load(unit = "N") = 60e3;
    Real angle(start = 0, fixed = true);
    Real turning(start = 0, fixed = true);
    Real length(start = 0.9, fixed = true);
    Real speed(start = 0, fixed = true);
    Drives.CarrierDrives drives(luff_drive(cylinder(oil(start_a = 60e5, start_b = 50e5)))) annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end CarrierExample;

  model FlangeMass "A mass under a load"
    parameter Real mass = 1400;
    parameter Real load = 4250;
    Modelica.Mechanics.Translational.Interfaces.Flange_b flange annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Real s(start = 1.86, fixed = true);
    Real v(start = 0, fixed = true);
  equation
    flange.s = s;
    der(s) = v;
    mass*der(v) = flange.f - load;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end FlangeMass;

  model FlangeExample "A mass on the drive's flange"
    FlangeMass mass annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Drives.FlangeDrive drive annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    drive.command = if time < 0.2 then 0 elseif time < 0.7 then 0.5 else 0;
    connect(mass.flange, drive.flange);
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end FlangeExample;

  model CircuitExample "The boom with the whole drive"
    BoomMechanism mechanism "replace it by the imported FMU" annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Interfaces.MechanismInterface lift annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
    Drives.ServoCircuit drive annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    drive.command = if time < 0.5 then 0 elseif time < 0.6 then 6*(time - 0.5) elseif time < 1.5 then 0.6 elseif time < 1.6 then 6*(1.6 - time) else 0;
    lift.length = mechanism.length;
    lift.speed = mechanism.speed;
    mechanism.force = lift.force;
    connect(lift.port, drive.port);
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end CircuitExample;
  annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, radius=25, lineColor={128,128,128}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Text(extent={{-80,40},{80,-40}}, textString="E", textColor={64,64,64})}));
end Examples;
