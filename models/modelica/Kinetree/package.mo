within ;
package Kinetree "Drives, controllers and interfaces for mechanisms that Kinetree packs as FMUs"
  annotation(
    version = "0.1.0",
    uses(Modelica(version = "4.0.0")),
    Documentation(info = "<html><p>The equations of drives and controllers are those of <code>kinetree cosim</code> and of <code>[hydraulics]</code> in descriptions.
      <code>kinetree modelica MODEL</code> writes the model that puts an imported FMU behind ports and flanges.</p></html>"));
end Kinetree;
