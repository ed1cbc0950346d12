"""Hints for error messages: phrases of a message, their cause, and the remedy."""

import re

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
    "as no parent is given": "a joint without `parent` hangs on the ground: name the body it belongs to, or write parent = 'ground'",
    "no such file": "paths stand relative to where the command runs; those inside of a description relative to its file",
}  # fmt: skip


FORMS = {
    r"needs? .*pip install|pip install": (
        "a part that is installed only on request is missing: run the command that the "
        "message ends with"
    ),
    r"no (column|columns) |has no column": (
        "columns are coordinates, der(coordinate), states, outputs and inputs: the first line"
        " of `kinetree run ... -o x.csv` has them all"
    ),
    r"no parameter|no such parameter": (
        "parameters stand under [parameters]; `kinetree info MODEL` lists them with values "
        "and units"
    ),
    r"no (coordinate|state|input|output|body|joint|stage|mode|channel|face|node|table)s? ": (
        "no such name there: `kinetree info MODEL` lists the names of a mechanism, the "
        "message those that are there"
    ),
    r"cannot be (read|opened|unpacked)|is not .* that can be read": (
        "the file is damaged, empty, of another format, or may not be read: look at its size,"
        " its ending and its rights"
    ),
    r"cannot be written|does not exist": (
        "the folder has to exist and to be writable; paths stand relative to where the command runs"
    ),
    r"no file |no such file|not found": (
        "paths stand relative to where the command runs; those inside of a description "
        "relative to its file"
    ),
    r"no rows|no values|no samples|too few": (
        "the data end before they begin: a heading without rows, a wrong separator, or a "
        "record too short for what is asked"
    ),
    r"(is missing|expected a name|is given twice|missing)": (
        "write the key once, with a value of the kind that the message names"
    ),
    r"expected one of|unknown|is not (known|there|offered)|neither .* nor": (
        "a word that does not exist there: the message lists those that do; `kinetree explain"
        " WORD` tells what they mean"
    ),
    r"has shape|of shape|expected as many|values, the time has|numbers for": (
        "arrays and lists have to be as long as what they belong to: compare the two lengths "
        "in the message"
    ),
    r"not finite|finite (number|value)": (
        "NaN or infinity came in: a division by 0, an empty cell, or a motion that grew "
        "without bound"
    ),
    r"(expected|is) (a |an |not )?(positive|negative|whole|number|numbers|true)": (
        "a value of another kind or sign: the message shows it behind `found` or `is`, and "
        "what may stand there behind `expected`"
    ),
    r"ascend|descend|before the start|after .* in row": (
        "times and stations have to grow from row to row, and an end lies after its start: "
        "look for repeated or swapped rows"
    ),
    r"at most|at least|more than|too (large|long|many|deep)|expected .* to |nested too deeply": (
        "a bound that keeps programs from stalling or results from meaning nothing: less of "
        "it, or divide the task"
    ),
    r"exclude|one of them|belongs? to|go together|neither|leave .* out|both": (
        "keys or options that exclude or need each other: keep those that belong together"
    ),
    r"supported|only|is for |are for ": (
        "not possible in this combination: the message names where it is possible"
    ),
    r"not allowed|impossible|cannot be set|is to begin at": (
        "the host calls in an order or with values that the standard forbids at that moment: "
        "look at its last calls"
    ),
    r"damaged|of another (model|version|task)": (
        "it was made by another version or for another model, or cut off: make it anew"
    ),
    r"^\S+ as \S+$|of length 0|without a|longer than|number": (
        "the part that is named says something that it may not: the message shows it behind "
        "its name"
    ),
    r"variable\w*, found|derivative": (
        "how often or by how many variables it is asked does not fit how it is declared"
    ),
    r"(^| )at t = ": (
        "what happened at that instant: run to just before it (`--stop-time`) and look at the"
        " columns that grow"
    ),
    r"is not an? (input|output|coordinate|state)|no start value": (
        "`kinetree info MODEL` lists inputs, outputs, coordinates and states with their names"
    ),
    r"rates? of inputs": (
        "a relation that contains an input needs the rates of the input too: docs/loops.md"
    ),
    r"have one name": "names are given once: rename one of the two",
    r"not done after|timed? ?out": "a limit of time was reached: less work, or a larger limit",
    r"triangles|solid ": "how many parts a file of a mesh or STEP has, and which of them is meant",
    r" 1 to |stage": "a number outside of the range there is: the message names both",
    r"has no|no .* in |one of|expected": (
        "what was looked for is not there: the message says what was found, or what there is"
    ),
    r"no .* gives": "between the bounds there is no solution: widen them, or ask for less",
}  # forms of messages, for those without advice of their own; the first that fits


def form_advice(message: str) -> list[tuple[str, str]]:
    """Return the meaning of a form of message, such as `expected one of`, and the remedy."""
    for form, text in FORMS.items():
        found = re.search(form, message, re.IGNORECASE)
        if found:
            return [(found[0].strip(), text)]
    return []


def advice(message: str) -> list[tuple[str, str]]:
    """Return causes and remedies of an error message, found by phrases in it."""
    low = message.lower()
    return [(phrase, text) for phrase, text in ADVICE.items() if phrase.lower() in low]
