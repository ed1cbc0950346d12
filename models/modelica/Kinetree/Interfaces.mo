within Kinetree;
package Interfaces "Connectors, and blocks between the signals of an imported FMU and ports or flanges"
  connector ActuatorPort "An actuator of the mechanism: motion goes out, force comes in"
    output Real length "[m or rad]";
    output Real speed "[m/s or rad/s]";
    input Real force "positive where it extends [N or N.m]";
    input Real stiffness "dF/ds, negative [N/m or N.m/rad]";
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,127,0}, fillColor={0,127,0}, fillPattern=FillPattern.Solid)}), Diagram(graphics={Rectangle(extent={{-20,-20},{20,20}}, lineColor={0,127,0}, fillColor={0,127,0}, fillPattern=FillPattern.Solid), Text(extent={{-100,60},{100,30}}, textString="%name", textColor={0,127,0})}));
  end ActuatorPort;

  connector DrivePort "A drive: motion comes in, force goes out"
    input Real length;
    input Real speed;
    output Real force;
    output Real stiffness;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,127,0}, fillColor={255,255,255}, fillPattern=FillPattern.Solid)}), Diagram(graphics={Rectangle(extent={{-20,-20},{20,20}}, lineColor={0,127,0}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-100,60},{100,30}}, textString="%name", textColor={0,127,0})}));
  end DrivePort;

  connector OilPort "A hydraulic connection"
    Real p(unit = "Pa") "pressure, absolute";
    flow Real q(unit = "m3/s") "flow into the component";
    annotation(Icon(graphics={Ellipse(extent={{-100,-100},{100,100}}, lineColor={255,128,0}, fillColor={255,128,0}, fillPattern=FillPattern.Solid)}), Diagram(graphics={Ellipse(extent={{-20,-20},{20,20}}, lineColor={255,128,0}, fillColor={255,128,0}, fillPattern=FillPattern.Solid), Text(extent={{-100,60},{100,30}}, textString="%name", textColor={255,128,0})}));
  end OilPort;

  block MechanismInterface "Between the signals of an imported FMU and a drive's port"
    Modelica.Blocks.Interfaces.RealInput length "from the FMU's ACTUATOR.length" annotation(Placement(transformation(extent={{-140,50},{-100,90}})));
    Modelica.Blocks.Interfaces.RealInput speed "from the FMU's ACTUATOR.speed, or ACTUATOR.mean_speed where the FMU is for co-simulation" annotation(Placement(transformation(extent={{-140,-90},{-100,-50}})));
    Modelica.Blocks.Interfaces.RealOutput force "to the FMU's ACTUATOR.force" annotation(Placement(transformation(extent={{100,60},{120,80}})));
    Modelica.Blocks.Interfaces.RealOutput stiffness "to the FMU's ACTUATOR.stiffness, where the FMU is for co-simulation" annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    ActuatorPort port annotation(Placement(transformation(extent={{90,-80},{110,-60}})));
  equation
    port.length = length;
    port.speed = speed;
    force = port.force;
    stiffness = port.stiffness;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end MechanismInterface;
  model TranslationalActuator "Between speed and force of an imported FMU's actuator and a flange"
    parameter Real length(unit = "m") = 1 "of the actuator at the start";
    Modelica.Blocks.Interfaces.RealInput speed(unit = "m/s") "from the FMU's ACTUATOR.speed" annotation(Placement(transformation(extent={{-140,30},{-100,70}})));
    Modelica.Blocks.Interfaces.RealOutput force(unit = "N") "to the FMU's ACTUATOR.force, positive where it extends" annotation(Placement(transformation(extent={{-100,-60},{-120,-40}})));
    Modelica.Mechanics.Translational.Interfaces.Flange_b flange "its position is the length" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Modelica.Mechanics.Translational.Sources.Speed motion(exact = true, s(start = length, fixed = true)) "keeps the length as a state: OpenModelica does not differentiate what comes out of an FMU" annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Modelica.Mechanics.Translational.Sensors.ForceSensor sensor annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    motion.v_ref = speed;
    connect(motion.flange, sensor.flange_a);
    connect(sensor.flange_b, flange);
    force = -sensor.f;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end TranslationalActuator;

  model RotationalActuator "Between speed and moment of an imported FMU's actuator and a flange"
    parameter Real angle(unit = "rad") = 0 "of the actuator at the start";
    Modelica.Blocks.Interfaces.RealInput speed(unit = "rad/s") "from the FMU's ACTUATOR.speed" annotation(Placement(transformation(extent={{-140,30},{-100,70}})));
    Modelica.Blocks.Interfaces.RealOutput moment(unit = "N.m") "to the FMU's ACTUATOR.force" annotation(Placement(transformation(extent={{-100,-60},{-120,-40}})));
    Modelica.Mechanics.Rotational.Interfaces.Flange_b flange "its angle is the length" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Modelica.Mechanics.Rotational.Sources.Speed motion(exact = true, phi(start = angle, fixed = true)) "keeps the angle as a state" annotation(Placement(transformation(extent={{-75,-15},{-45,15}})));
    Modelica.Mechanics.Rotational.Sensors.TorqueSensor sensor annotation(Placement(transformation(extent={{45,-15},{75,15}})));
  equation
    motion.w_ref = speed;
    connect(motion.flange, sensor.flange_a);
    connect(sensor.flange_b, flange);
    moment = -sensor.tau;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end RotationalActuator;
  annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, radius=25, lineColor={128,128,128}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Text(extent={{-80,40},{80,-40}}, textString="I", textColor={64,64,64})}));
end Interfaces;
