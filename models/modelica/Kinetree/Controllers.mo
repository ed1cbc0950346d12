within Kinetree;
package Controllers "Controllers of drives"
  block PositionController "PID with feed-forward, limits, anti-windup and a filtered derivative, sampled: the controller of kinetree cosim"
    parameter Real gain = 10 "command per unit of the error";
    parameter Real integral_time(unit = "s") = 0 "0: no integral part";
    parameter Real derivative_time(unit = "s") = 0;
    parameter Real filter_time(unit = "s") = 0.01 "of the derivative";
    parameter Real feed_forward = 0 "command per speed of the target";
    parameter Real tracking_time(unit = "s") = 0 "of the anti-windup; 0: that of the integral part";
    parameter Real bias = 0 "command without any error";
    parameter Real lower = -1;
    parameter Real upper = 1;
    parameter Real period(unit = "s") = 0.01 "between two samples";
    parameter Real measured_0 = 0 "what is measured at the start";
    Modelica.Blocks.Interfaces.RealInput measured annotation(Placement(transformation(extent={{-140,40},{-100,80}})));
    Modelica.Blocks.Interfaces.RealInput target annotation(Placement(transformation(extent={{-140,-20},{-100,20}})));
    Modelica.Blocks.Interfaces.RealInput target_speed annotation(Placement(transformation(extent={{-140,-80},{-100,-40}})));
    Modelica.Blocks.Interfaces.RealOutput command annotation(Placement(transformation(extent={{100,-10},{120,10}})));
    discrete Real integral(start = 0, fixed = true);
    discrete Real derivative(start = 0, fixed = true);
    discrete Real before(start = measured_0, fixed = true);
    discrete Real wanted(start = 0, fixed = true) "the command before its limits";
  equation
    when sample(period, period) then
      derivative = (filter_time*pre(derivative) - derivative_time*(measured - pre(before)))/(filter_time + period);
      before = measured;
      wanted = bias + feed_forward*target_speed + gain*(target - measured + pre(integral) + derivative);
      integral = if integral_time > 0 then pre(integral) + period/integral_time*(target - measured)
        + min(period/(if tracking_time > 0 then tracking_time else integral_time), 1)*(min(max(wanted, lower), upper) - wanted)/gain else 0;
    end when;
    command = min(max(wanted, lower), upper);
    annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, lineColor={0,0,127}, fillColor={255,255,255}, fillPattern=FillPattern.Solid), Text(extent={{-150,140},{150,105}}, textString="%name", textColor={0,0,255})}));
  end PositionController;
  annotation(Icon(graphics={Rectangle(extent={{-100,-100},{100,100}}, radius=25, lineColor={128,128,128}, fillColor={245,245,245}, fillPattern=FillPattern.Solid), Text(extent={{-80,40},{80,-40}}, textString="C", textColor={64,64,64})}));
end Controllers;
