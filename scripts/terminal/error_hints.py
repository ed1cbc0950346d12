"""Advice on messages that name no key: a phrase of the message, its cause, what to do."""

ADVICE = {
    "unknown parameter": "--set, keyword arguments and stages change what [parameters] has; `kinetree info MODEL` shows values and units",
    "unknown key": "misspelt, or of another kind; the message lists the keys there are, `kinetree explain TABLE` tells what they mean",
    "not a known unit": "SI, its multiples and what machines use (kN, bar, deg, rpm, l/min), joined by . * / and powers: docs/format.md",
    "values of one dimension": "a number without a unit has none: give it one by a parameter, { value = 0.1, unit = 'N.m.s/rad' }",
    "unknown function": "functions and constants: docs/format.md, Expressions; `kinetree explain sin`; a ramp is min(max((t - 1)/5, 0), 1)",
    "unknown name": "laws read parameters, inputs, outputs, coordinates, der(coordinate), states and what forces offer (NAME.length)",
    "has no inertia along a freedom": "give the body `mass` and `inertia`; free and spherical joints turn it about all three axes",
    "no invertible mass matrix": "this form needs `mass` and all three moments of `inertia` of every body; DEC does not",
    "not a finite number": "a law has no value at that state, or a mass, a length or an inertia vanishes: the message names the number to blame",
    "do not reach the next output": "the steps became too short: laws that jump want events, stiff ones `--integrator radau`",
    "the motion is unstable": "something feeds energy: signs of stiffness and damping, controllers, the step of methods of fixed step",
    "the motion is singular": "the step went to nothing: a law jumps where an event should be, a mass vanishes, or a loop reaches a dead point",
    "dead point": "a loop is stretched or folded and may go on in two ways: begin beside it, or drive a coordinate through it",
    "was not reached": "a stage waits for its `when`: check its sign and units, or give it `after` or `at`; `kinetree run` tells where the run ended",
    "C compiler": "the engine and native FMUs are compiled here: apt-get install gcc libc6-dev, or xcode-select --install",
    "no equilibrium": "the message names what is open: a force nothing balances, a state that always changes (a pump without a relief valve)",
    "only touches its bound": "the gradient has a kink there: change a parameter a little, or take differences of runs",
    "slides along the jump of a law": "sign(der(x)) as dry friction has no gradient where it holds: kind = 'friction' or tanh(der(x)/small) has one",
    "by several conditions at once": "two laws jump at one instant, where no slope exists: move one of them, or take differences of runs",
    "no gradient of": "the message says why; runs by rk4 or semi-implicit have one, all others take differences of runs",
    "has no influence on": "the record does not depend on it: leave it out, or measure a force or a column that does",
    "cannot be told apart": "only a combination of them acts: fix one, or measure something on which they act differently",
    "the energy balance is open": "energy came from nothing: shorter steps, step control (--integrator auto), or a smaller tolerance",
    "stays open": "dimensions or start values do not let the loop close: the message names joint and direction",
    "an iteration did not converge": "smaller steps or another integrator; in statics begin nearer to the equilibrium (start values, --then)",
    "too many steps": "stiff forces want `--integrator radau`; laws that jump want events",
    "below the resolution of time": "the step went to nothing: a law jumps where an event should be, or a mass vanishes",
    "events accumulate": "a condition comes true again and again at one instant: give it hysteresis, or a state that remembers",
    "admit no force there": "Painlevé's paradox: less friction, or a force element of kind contact, which yields",
    "jumps back and forth": "a law switches with the state and holds it there: kind = 'friction', or a hysteresis for a relay",
    "the bodies overlap": "start values, or what an event sets, put one body into another: move one of them apart",
    "drive the bodies into each other": "a given motion leaves no way out: end it there, or take a force element of kind contact",
    "finds no finite": "a plan or an estimate grows without bound: shorter `step` or `horizon`, more `parts`, finite weights and limits",
    "an event cannot set": "constraints, or what else is set, already decide that value: set another coordinate of the loop",
    "drives a rotor": "LGR has no place for rotor_inertia: take DEC, ABM or CBM",
    "no such file": "paths stand relative to where the command runs; those inside of a description relative to its file",
}  # fmt: skip


def advice(message: str) -> list[tuple[str, str]]:
    """Return causes and remedies of an error message, looked up by its phrases."""
    low = message.lower()
    return [(phrase, text) for phrase, text in ADVICE.items() if phrase.lower() in low]
