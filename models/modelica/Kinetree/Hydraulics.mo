within Kinetree;
package Hydraulics "Parts of hydraulic circuits"
  function orificeFlow "Flow through an open edge: the root of the pressure drop, linear around zero"
    input Real drop(unit = "Pa") "pressure difference";
    input Real gain "flow per root of pressure [m3/(s.Pa^0.5)]";
    input Real laminar(unit = "Pa") "drop below which the flow is laminar";
    output Real flow_(unit = "m3/s");
  algorithm
    flow_ := gain*drop/(drop*drop + laminar*laminar)^0.25;
  end orificeFlow;

  model ServoValve "Four-way proportional valve with a first-order spool, relief and make-up valves"
    parameter Real supply(unit = "Pa") = 210e5;
    parameter Real tank(unit = "Pa") = 5e5;
    parameter Real rated_flow(unit = "m3/s") = 6e-4 "at full stroke and rated_drop";
    parameter Real rated_drop(unit = "Pa") = 35e5 "over one edge";
    parameter Real overlap = 0 "part of the stroke";
    parameter Real time_constant(unit = "s") = 0.01 "of the spool";
    parameter Real laminar(unit = "Pa") = 1e5;
    parameter Real relief(unit = "Pa") = 280e5;
    parameter Real relief_gain(unit = "m3/(s.Pa)") = 1e-9;
    parameter Real make_up_gain(unit = "m3/(s.Pa)") = 1e-9;
    parameter Real gain = rated_flow/sqrt(rated_drop);
    Modelica.Blocks.Interfaces.RealInput command "of the spool, -1 to 1" annotation(Placement(transformation(extent={{-140,50},{-100,90}})));
    Modelica.Blocks.Interfaces.RealInput pressure_a annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Modelica.Blocks.Interfaces.RealInput pressure_b annotation(Placement(transformation(extent={{-140,-90},{-100,-50}})));
    Modelica.Blocks.Interfaces.RealOutput flow_a "into side a" annotation(Placement(transformation(extent={{100,60},{120,80}})));
    Modelica.Blocks.Interfaces.RealOutput flow_b "into side b" annotation(Placement(transformation(extent={{100,-80},{120,-60}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,-50},{100,50}}), Line(points={{-33,-50},{-33,50}}), Line(points={{33,-50},{33,50}}), Text(extent={{-150,110},{150,70}}, textString="%name", textColor={0,0,255})}));
  end ServoValve;

  model Cylinder "Oil of a double-acting cylinder"
    parameter Real area_a(unit = "m2") = 5e-3;
    parameter Real area_b(unit = "m2") = 3.2e-3;
    parameter Real volume_a(unit = "m3") = 0.5e-3 "dead volume";
    parameter Real volume_b(unit = "m3") = 0.5e-3 "dead volume";
    parameter Real shortest(unit = "m") = 1.35;
    parameter Real longest(unit = "m") = 2.35;
    parameter Real bulk_modulus(unit = "Pa") = 1.4e9;
    parameter Real leakage(unit = "m3/(s.Pa)") = 0 "past the piston";
    parameter Real start_a(unit = "Pa") = 44.5e5;
    parameter Real start_b(unit = "Pa") = 56.25e5;
    Modelica.Blocks.Interfaces.RealInput length annotation(Placement(transformation(extent={{-120,60},{-100,80}})));
    Modelica.Blocks.Interfaces.RealInput speed annotation(Placement(transformation(extent={{-120,13},{-100,33}})));
    Modelica.Blocks.Interfaces.RealInput flow_a annotation(Placement(transformation(extent={{-120,-33},{-100,-13}})));
    Modelica.Blocks.Interfaces.RealInput flow_b annotation(Placement(transformation(extent={{-120,-80},{-100,-60}})));
    Modelica.Blocks.Interfaces.RealOutput pressure_a(start = start_a, fixed = true) annotation(Placement(transformation(extent={{100,60},{120,80}})));
    Modelica.Blocks.Interfaces.RealOutput pressure_b(start = start_b, fixed = true) annotation(Placement(transformation(extent={{100,13},{120,33}})));
    Modelica.Blocks.Interfaces.RealOutput force "pushes the two points apart" annotation(Placement(transformation(extent={{100,-33},{120,-13}})));
    Modelica.Blocks.Interfaces.RealOutput stiffness "dF/ds with closed valves, negative" annotation(Placement(transformation(extent={{100,-80},{120,-60}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,40},{40,-40}}, fillColor={255,220,120}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,10},{100,-10}}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Text(extent={{-150,110},{150,70}}, textString="%name", textColor={0,0,255})}));
  end Cylinder;

  model OilVolume "Oil in pipes, with the gas of an accumulator where `gas` is not 0"
    parameter Real volume(unit = "m3") = 1e-3;
    parameter Real bulk_modulus(unit = "Pa") = 1.4e9;
    parameter Real gas(unit = "m3") = 0 "volume of the gas at the precharge";
    parameter Real precharge(unit = "Pa") = 140e5;
    parameter Real exponent = 1.2 "polytropic";
    parameter Real start(unit = "Pa") = 1e5;
    Interfaces.OilPort port annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    Real pressure(start = start, fixed = true);
    Real gas_volume(unit = "m3");
    Real compliance(unit = "m3/Pa");
  equation
    port.p = pressure;
    gas_volume = gas*(precharge/max(pressure, precharge))^(1/exponent);
    compliance = volume/bulk_modulus + (if pressure > precharge then gas_volume/(exponent*pressure) else 0);
    der(pressure) = port.q/compliance;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end OilVolume;

  model Tank "A place of given pressure"
    parameter Real pressure(unit = "Pa") = 2e5;
    Interfaces.OilPort port annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    port.p = pressure;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end Tank;

  model LimitedPump "A given flow, cut back where the outlet comes near the limit"
    parameter Real flow_rate(unit = "m3/s") = 3e-4;
    parameter Real limit(unit = "Pa") = 210e5 "pressure at which the flow is 0";
    parameter Real range(unit = "Pa") = 5e5 "below the limit";
    parameter Real leakage(unit = "m3/(s.Pa)") = 0;
    Interfaces.OilPort inlet annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Interfaces.OilPort outlet annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    inlet.q = flow_rate*min(max((limit - outlet.p)/range, 0), 1) - leakage*(outlet.p - inlet.p);
    outlet.q = -inlet.q;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end LimitedPump;

  model CheckValve "Relief, check and make-up valves: opens in one direction above a pressure drop"
    parameter Real opens(unit = "Pa") = 0 "drop at which it opens";
    parameter Real gain(unit = "m3/(s.Pa)") = 1e-8 "flow per pressure drop above";
    Interfaces.OilPort a "inlet" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Interfaces.OilPort b "outlet" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    a.q = gain*max(a.p - b.p - opens, 0);
    b.q = -a.q;
    annotation(Icon(graphics={Rectangle(extent={{-100,-50},{100,50}}), Line(points={{-33,-50},{-33,50}}), Line(points={{33,-50},{33,50}}), Text(extent={{-150,110},{150,70}}, textString="%name", textColor={0,0,255})}));
  end CheckValve;

  model FourWayValve "Proportional valve with ports for supply and tank and a spool of second order"
    parameter Real rated_flow(unit = "m3/s") = 6e-4 "at full stroke and rated_drop";
    parameter Real rated_drop(unit = "Pa") = 35e5 "over one edge";
    parameter Real overlap = 0 "part of the stroke";
    parameter Real laminar(unit = "Pa") = 1e5;
    parameter Real frequency(unit = "Hz") = 30 "of the spool";
    parameter Real damping = 0.8 "damping ratio of the spool";
    parameter Real gain = rated_flow/sqrt(rated_drop);
    parameter Real w = 6.283185307179586*frequency;
    Modelica.Blocks.Interfaces.RealInput command "-1 to 1" annotation(Placement(transformation(extent={{-140,50},{-100,90}})));
    Interfaces.OilPort supply annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Interfaces.OilPort tank annotation(Placement(transformation(extent={{90,60},{110,80}})));
    Interfaces.OilPort a annotation(Placement(transformation(extent={{-110,-80},{-90,-60}})));
    Interfaces.OilPort b annotation(Placement(transformation(extent={{90,-80},{110,-60}})));
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
    annotation(Icon(graphics={Rectangle(extent={{-100,-50},{100,50}}), Line(points={{-33,-50},{-33,50}}), Line(points={{33,-50},{33,50}}), Text(extent={{-150,110},{150,70}}, textString="%name", textColor={0,0,255})}));
  end FourWayValve;

  model PortedValve "The four-way valve with hydraulic connectors"
    Modelica.Blocks.Interfaces.RealInput command "of the spool, -1 to 1" annotation(Placement(transformation(extent={{-140,50},{-100,90}})));
    Interfaces.OilPort a annotation(Placement(transformation(extent={{-110,-80},{-90,-60}})));
    Interfaces.OilPort b annotation(Placement(transformation(extent={{90,-10},{110,10}})));
    ServoValve valve annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
  equation
    valve.command = command;
    valve.pressure_a = a.p;
    valve.pressure_b = b.p;
    a.q = -valve.flow_a;
    b.q = -valve.flow_b;
    annotation(Icon(graphics={Rectangle(extent={{-100,-50},{100,50}}), Line(points={{-33,-50},{-33,50}}), Line(points={{33,-50},{33,50}}), Text(extent={{-150,110},{150,70}}, textString="%name", textColor={0,0,255})}));
  end PortedValve;

  model PortedCylinder "The cylinder with hydraulic connectors and a port to the mechanism"
    Interfaces.OilPort a annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Interfaces.OilPort b annotation(Placement(transformation(extent={{90,60},{110,80}})));
    Interfaces.DrivePort port annotation(Placement(transformation(extent={{90,-80},{110,-60}})));
    Cylinder oil annotation(Placement(transformation(extent={{-15,-15},{15,15}})));
  equation
    a.p = oil.pressure_a;
    b.p = oil.pressure_b;
    oil.flow_a = a.q;
    oil.flow_b = b.q;
    oil.length = port.length;
    oil.speed = port.speed;
    port.force = oil.force;
    port.stiffness = oil.stiffness;
    annotation(Icon(graphics={Rectangle(extent={{-100,40},{40,-40}}, fillColor={255,220,120}, fillPattern=FillPattern.Solid), Rectangle(extent={{-30,10},{100,-10}}, fillColor={160,160,160}, fillPattern=FillPattern.Solid), Text(extent={{-150,110},{150,70}}, textString="%name", textColor={0,0,255})}));
  end PortedCylinder;

  model PortedMotor "Hydraulic motor with its gear on a rotary actuator"
    parameter Real displacement(unit = "m3/rad") = 2e-4 "per radian of the driven axis";
    parameter Real volume(unit = "m3") = 1e-3 "of the oil on either side";
    parameter Real bulk_modulus(unit = "Pa") = 1.4e9;
    parameter Real leakage(unit = "m3/(s.Pa)") = 0 "between the sides";
    parameter Real start_a(unit = "Pa") = 50e5;
    parameter Real start_b(unit = "Pa") = 50e5;
    Interfaces.OilPort a annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Interfaces.OilPort b annotation(Placement(transformation(extent={{90,60},{110,80}})));
    Interfaces.DrivePort port annotation(Placement(transformation(extent={{90,-80},{110,-60}})));
    Real pressure_a(start = start_a, fixed = true);
    Real pressure_b(start = start_b, fixed = true);
  equation
    a.p = pressure_a;
    b.p = pressure_b;
    der(pressure_a) = bulk_modulus/volume*(a.q - displacement*port.speed - leakage*(pressure_a - pressure_b));
    der(pressure_b) = bulk_modulus/volume*(b.q + displacement*port.speed + leakage*(pressure_a - pressure_b));
    port.force = displacement*(pressure_a - pressure_b);
    port.stiffness = -2*bulk_modulus*displacement*displacement/volume;
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end PortedMotor;
  annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, radius=25, lineColor={128,128,128}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Text(extent={{-80,40},{80,-40}}, textString="H", textColor={64,64,64})}));
end Hydraulics;
