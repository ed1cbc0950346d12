// What the package Kinetree takes from the Modelica Standard Library 4.0.0, by its documented equations: rumoca runs without that library.
package Modelica
  package Blocks
    package Interfaces
      connector RealInput = input Real;
      connector RealOutput = output Real;
    end Interfaces;
  end Blocks;
  package Mechanics
    package Translational
      package Interfaces
        connector Flange_a
          Real s;
          flow Real f;
        end Flange_a;
        connector Flange_b
          Real s;
          flow Real f;
        end Flange_b;
      end Interfaces;
      package Sources
        model Speed "v = v_ref, exactly"
          parameter Boolean exact = false;
          Modelica.Blocks.Interfaces.RealInput v_ref;
          Modelica.Mechanics.Translational.Interfaces.Flange_b flange;
          Real s(start = 0, fixed = true);
        equation
          flange.s = s;
          der(s) = v_ref;
        end Speed;
      end Sources;
      package Sensors
        model ForceSensor "f = flange_a.f"
          Modelica.Mechanics.Translational.Interfaces.Flange_a flange_a;
          Modelica.Mechanics.Translational.Interfaces.Flange_b flange_b;
          Modelica.Blocks.Interfaces.RealOutput f;
        equation
          flange_a.s = flange_b.s;
          flange_a.f + flange_b.f = 0;
          f = flange_a.f;
        end ForceSensor;
      end Sensors;
    end Translational;
    package Rotational
      package Interfaces
        connector Flange_a
          Real phi;
          flow Real tau;
        end Flange_a;
        connector Flange_b
          Real phi;
          flow Real tau;
        end Flange_b;
      end Interfaces;
      package Sources
        model Speed "w = w_ref, exactly"
          parameter Boolean exact = false;
          Modelica.Blocks.Interfaces.RealInput w_ref;
          Modelica.Mechanics.Rotational.Interfaces.Flange_b flange;
          Real phi(start = 0, fixed = true);
        equation
          flange.phi = phi;
          der(phi) = w_ref;
        end Speed;
      end Sources;
      package Sensors
        model TorqueSensor "tau = flange_a.tau"
          Modelica.Mechanics.Rotational.Interfaces.Flange_a flange_a;
          Modelica.Mechanics.Rotational.Interfaces.Flange_b flange_b;
          Modelica.Blocks.Interfaces.RealOutput tau;
        equation
          flange_a.phi = flange_b.phi;
          flange_a.tau + flange_b.tau = 0;
          tau = flange_a.tau;
        end TorqueSensor;
      end Sensors;
    end Rotational;
  end Mechanics;
end Modelica;
