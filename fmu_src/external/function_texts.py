"""Modelica source of the external object and of the functions that call the library of external
objects.
"""

POSITION = "input Object o; input Real t; input Real x[:]; input Integer uvr[:]; input Real u[:]; input Integer epoch;"
PASSED = "o, t, x, size(x, 1), uvr, size(uvr, 1), u, size(u, 1), epoch"
FUNCTIONS = """
  class Object "the compiled mechanism"
    extends ExternalObject;
    function constructor
      input String instance; input String file; input Boolean exchange; input Real tolerance; input Real start;
      input Integer vr[:]; input Real values[size(vr, 1)];
      output Object o;
      external "C" o = LIB_new(instance, file, TOKEN, exchange, tolerance, start, vr, size(vr, 1), values, size(values, 1))
        LINK;
    end constructor;
    function destructor
      input Object o;
      external "C" LIB_free(o) LINK;
    end destructor;
  end Object;
  pure function start
    input Object o; input Integer n; output Real x[n]; output Real next;
    external "C" LIB_start(o, x, n, next) LINK;
  end start;
  pure function rates
    POSITION output Real dx[size(x, 1)];
    external "C" LIB_rates(PASSED, dx) LINK;DERIVATIVE
  end rates;
  pure function slopes "of the rates along changes of time, states and inputs"
    POSITION input Real der_t; input Real der_x[size(x, 1)]; input Real der_u[size(u, 1)];
    output Real der_dx[size(x, 1)];
    external "C" LIB_slopes(PASSED, der_t, der_x, size(der_x, 1), der_u, size(der_u, 1), der_dx) LINK;
  end slopes;
  pure function outputs
    POSITION input Integer vr[:]; output Real y[size(vr, 1)];
    external "C" LIB_outputs(PASSED, vr, size(vr, 1), y) LINK;
  end outputs;
  pure function counts "what changes in events alone"
    input Object o; input Integer epoch; input Integer vr[:]; output Integer y[size(vr, 1)];
    external "C" LIB_counts(o, epoch, vr, size(vr, 1), y) LINK;
  end counts;
  pure function guards
    POSITION input Integer n; output Real z[n];
    external "C" LIB_guards(PASSED, z, n) LINK;
  end guards;
  pure function event
    POSITION input Integer tvr[:]; input Real tuned[size(tvr, 1)];
    output Integer following; output Real xn[size(x, 1)]; output Real next;
    external "C" following = LIB_event(PASSED, tvr, size(tvr, 1), tuned, size(tuned, 1), xn, next) LINK;
  end event;
  pure function step
    input Object o; input Real t; input Real h; input Integer uvr[:]; input Real u[:]; input Real du[size(u, 1)];
    input Integer epoch; input Integer vr[:];
    output Integer following; output Real y[size(vr, 1)];
    external "C" following = LIB_step(o, t, h, uvr, size(uvr, 1), u, size(u, 1), du, size(du, 1), epoch, vr, size(vr, 1), y) LINK;
  end step;
  pure function values
    input Object o; input Integer vr[:]; output Real y[size(vr, 1)];
    external "C" LIB_values(o, vr, size(vr, 1), y) LINK;
  end values;
  function position "with speed and acceleration as its derivatives, as in Modelica.Mechanics.Translational.Sources.Move"
    input Real motion[3]; input Real t; output Real s;
  algorithm
    s := motion[1];
    annotation(derivative(noDerivative = motion) = speed, InlineAfterIndexReduction = true);
  end position;
  function speed
    input Real motion[3]; input Real t; input Real dt; output Real v;
  algorithm
    v := motion[2];
    annotation(derivative(noDerivative = motion, order = 2) = acceleration, InlineAfterIndexReduction = true);
  end speed;
  function acceleration
    input Real motion[3]; input Real t; input Real dt; input Real ddt; output Real a;
  algorithm
    a := motion[3];
    annotation(InlineAfterIndexReduction = true);
  end acceleration;
"""


def function_texts(library: str, place: str, token: str, derivatives: bool) -> str:
    """Return the Modelica source of all functions, given the library's name, the annotation of its
    folder, and the model's token; `derivatives` adds the annotation that `slopes` is the
    derivative of `rates`.
    """
    words = {
        "DERIVATIVE": "\n    annotation(derivative = slopes);" if derivatives else "",
        "POSITION": POSITION,
        "PASSED": PASSED,
        "LINK": f'annotation(Library = {{"{library}"}}, {place})',
        "LIB_": f"{library}_",
        "TOKEN": token,
    }
    text = FUNCTIONS
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text
