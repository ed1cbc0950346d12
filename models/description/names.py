"""Names of values, and what expressions may depend on: the scopes parameter, time, state and (for
results) acceleration.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel

from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Description
from kinetree.models.expressions.functions import REACTION_COMPONENTS, RESERVED
from kinetree.models.expressions.nodes import Lookup, postorder
from kinetree.models.expressions.parse import (
    ExpressionError,
    columns,
    evaluate_constant,
    names,
    parse,
)
from kinetree.models.forces.kinds import offered
from kinetree.models.hydraulics.kinds import KINDS as HYDRAULICS
from kinetree.models.joints.elements import JointForm
from kinetree.models.language.errors import suggestion
from kinetree.models.language.numbers_and_expressions import PLACE, Expression
from kinetree.models.language.parts.contact_parts import OFFERED
from kinetree.models.language.parts.coupling_parts import rows_of
from kinetree.models.language.parts.input_motion_parts import filter_states, followings
from kinetree.models.quantities.kinds import QUANTITIES
from kinetree.solvers.layout import Op

Path = tuple[str | int, ...]

QUOTABLE = re.compile(
    r"[^\W\d][\w.\-+/:@~]*"
)  # names that expressions write in quotes, as robots' files have them: 'j-1'
MAX_NAME_LENGTH = 100  # characters of a name
RUN_START = "run:start"  # hidden: the time at which the run or the instance began
RESULTS = (
    "outputs",
    "states",
    "stages",
    "run",
)  # sections whose laws may use accelerations, reactions and forces
INPUT, STATE = "an input", "a state"
ACTUATOR = (
    "force",
    "stiffness",
    "damping",
    "length",
    "speed",
    "acceleration",
    "mean_speed",
    "effective_mass",
)
MEASURES = (
    "force",
    "reaction",
)  # outputs may be called so: an expression reads them with an argument, and no output by that name
CHAMBERS = ("flow_a", "flow_b", "pressure_a", "pressure_b")


@dataclass
class Names:
    """Every name that expressions of a description can use, with its meaning."""

    parameters: dict[str, str] = field(default_factory=dict)
    states: dict[str, str] = field(
        default_factory=dict
    )  # known before forces: coordinates, speeds, inputs, ...
    results: dict[str, str] = field(default_factory=dict)  # known after accelerations
    clashes: list[tuple[Path, str, str]] = field(
        default_factory=list
    )  # path, name, what it is already
    own: frozenset[str] = (
        frozenset()
    )  # those the description gives; names that force elements offer yield to them

    def what(self, name: str) -> str:
        if name == "t":
            return "the time"
        return self.parameters.get(name) or self.states.get(name) or self.results.get(name) or ""


def output_names(name: str, output: Output) -> list[str]:
    """Return the names of the columns of an output: NAME, or NAME[1], NAME[2], ... if it has
    components.
    """
    count = QUANTITIES[output.quantity].components if output.quantity is not None else 1
    return (
        [name]
        if count == 1 or output.axis is not None
        else [f"{name}[{k}]" for k in range(1, count + 1)]
    )


def collect(description: Description, forms: dict[str, JointForm]) -> Names:
    """Return all names, and report those defined twice."""
    known = Names()

    def add(group: dict[str, str], name: str, what: str, path: Path) -> None:
        before = known.what(name)
        if before:
            known.clashes.append((path, name, before))
        else:
            group[name] = what

    for name in description.parameters:
        add(known.parameters, name, "a parameter", ("parameters", name))
    for joint, form in forms.items():
        given = (
            description.joints[joint].transforms is not None
            or description.joints[joint].coordinates is not None
        )
        path = (
            "joints",
            joint,
            "transforms" if description.joints[joint].transforms is not None else "coordinates",
        )
        for name in form.coordinates:
            add(known.states, name, f"a coordinate of joint '{joint}'", path if given else path[:2])
        for name in form.speeds:
            add(
                known.states, name, f"a speed of joint '{joint}'", path[:2]
            ) if form.quaternion else known.states.setdefault(name, "a speed")
            known.results[f"der({name})"] = "an acceleration"
    for name in description.chain.coordinates if description.chain else ():
        add(known.states, name, "a coordinate of the chain", ("chain", "names"))
        known.states.setdefault(f"der({name})", "a speed")
    for name in description.inputs:
        add(known.states, name, INPUT, ("inputs", name))
    for name in description.states:
        add(known.states, name, STATE, ("states", name))
        known.results[f"der({name})"] = "the rate of a state"
    for _, follow in followings(description):
        if follow.bandwidth is not None:
            for each in filter_states(follow.input):
                known.states[each] = STATE
    for name, output in description.outputs.items():
        for each in output_names(name, output):
            add(known.states, each, "an output", ("outputs", name))
    for name, actuator in description.actuators.items():
        for suffix in (*ACTUATOR, *(CHAMBERS if actuator.chambers else ())):
            add(
                known.states,
                f"{name}.{suffix}",
                f"a variable of actuator '{name}'",
                ("actuators", name),
            )
    for name, element in description.hydraulics.items():
        for suffix in HYDRAULICS[element.kind].measures:
            add(
                known.states,
                f"{name}.{suffix}",
                f"a variable of hydraulic element '{name}'",
                ("hydraulics", name),
            )
        if HYDRAULICS[element.kind].gives_way:
            known.results[f"der({name}.pressure)"] = "the rate of a pressure"
    for name, coupling in description.couplings.items():
        for each in (f"{name}[{k}]" for k in (1, 2, 3) if coupling.point is not None):
            add(
                known.states,
                each,
                f"the place of the point of coupling '{name}'",
                ("couplings", name),
            )
        known.results |= {
            f"force('{row}')": "the force of a coupling" for row in rows_of(name, coupling)
        }
    known.own = frozenset((*known.parameters, *known.states))
    variables = {
        each: f"a variable of force '{name}'"
        for name, force in description.forces.items()
        for each in offered(name, force)
    }
    variables |= {f"{name}.gap": f"the gap of contact '{name}'" for name in description.contacts}
    variables["stage_start"] = "the time at which the present stage began"
    variables[RUN_START] = "the time at which the run began"
    for name, what in variables.items():
        if name not in known.own:
            known.states[name] = what
    told = {
        f"{name}.{each}": f"a result of contact '{name}'"
        for name in description.contacts
        for each in OFFERED
    }
    known.results |= {name: what for name, what in told.items() if name not in known.own}
    known.results |= {f"force('{name}')": "a force" for name in description.forces}
    known.results |= {
        each: "a reaction" for name in description.joints for each in reaction_names(name)
    }
    known.results |= {
        f"force('{name}')": "a reaction"
        for name in description.joints
        if name not in description.forces
    }
    return known


def reaction_names(joint: str) -> list[str]:
    """Return the names of a joint's reactions: magnitude of the force, then force and moment in the
    axes of the child.
    """
    whole = f"reaction('{joint}')"
    return [whole, *(f"{whole}[{k}]" for k in range(1, REACTION_COMPONENTS + 1))]


def name_fault(name: str, value: bool) -> str:
    """Return why a name cannot be used, empty if it can; `value` names must also be usable in
    expressions.
    """
    if len(name) > MAX_NAME_LENGTH:
        return f"at most {MAX_NAME_LENGTH} characters"
    if not all(part.isidentifier() for part in name.split(".")) and not QUOTABLE.fullmatch(name):
        return "letters, digits, underscores, dots and - + / : @ ~, beginning with a letter"
    if unicodedata.normalize("NFKC", name) != name:
        return "letters in their usual form (Unicode NFKC)"
    if value and (name in RESERVED or name == "t" or keyword.iskeyword(name)):
        return f"another name: '{name}' has a meaning in expressions"
    if value and name in PLACE:
        return f"another name: '{name}' is the place of a contact"
    return ""


def expressions(value: object, path: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Yield every expression of a description with its path."""
    if isinstance(value, Expression):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            if inner is not None and not isinstance(inner, float):
                yield from expressions(inner, (*path, name))
    elif isinstance(value, tuple):
        for index, inner in enumerate(value):
            if not isinstance(inner, float):
                yield from expressions(inner, (*path, index))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from expressions(inner, (*path, name))


def fault(
    path: Path,
    text: Expression,
    known: Names,
    values: dict[str, float],
    tables: dict[str, bool],
    guess: bool,
) -> ExpressionError | None:
    """Return the error of one expression, or None; `guess` allows reports of unknown names."""
    try:
        node = parse(text)
        used = names(node)
        allowed: list[dict[str, str]] = [known.parameters]
        if text.scope == "state":
            allowed += [known.states, known.results] if path[0] in RESULTS else [known.states]
        if text.scope == "input":
            allowed.append({name: what for name, what in known.states.items() if what == INPUT})
        if text.scope == "ground":
            allowed += [
                {name: what for name, what in known.states.items() if what in (INPUT, STATE)},
                PLACE,
            ]
        for name in sorted(used):
            if any(name in group for group in allowed) or (
                name == "t" and text.scope != "parameter"
            ):
                continue
            what = known.what(name)
            motion = path[0] == "joints" and path[-1] == "by"
            if motion and what.startswith("a coordinate"):
                continue  # what is wrong with the amount is another name
            if what:
                may = "parameters, t and coordinates" if motion else BEFORE[text.scope]
                return ExpressionError(
                    f"'{name}' is {what}, only {may} can be used here",
                    columns(text).get(name),
                )
            if guess:
                candidates = [each for group in allowed for each in group]
                return ExpressionError(
                    f"unknown name '{name}'; {suggestion(name, candidates)}".rstrip("; "),
                    columns(text).get(name),
                )
            return None
        for each in postorder((node,)):
            if isinstance(each, Lookup):
                two = tables.get(each.table)
                column = columns(text).get(f"table('{each.table}')")
                if two is None:
                    return ExpressionError(
                        f"unknown table '{each.table}'; {suggestion(each.table, tables)}".rstrip(
                            "; "
                        ),
                        column,
                    )
                if two != (each.op == Op.TABLE2):
                    return ExpressionError(
                        f"table '{each.table}' takes {'two values' if two else 'one value'}", column
                    )
                if text.scope == "parameter":
                    return ExpressionError("tables cannot be used in constants", column)
        if text.scope == "parameter" and used <= values.keys():
            evaluate_constant(text, values)
    except ExpressionError as error:
        return error
    return None


BEFORE = {
    "parameter": "parameters",
    "time": "parameters and t",
    "input": "parameters, t and inputs",
    "ground": "parameters, t, inputs, states and the place of the contact (ground.x, ground.y, ground.z)",
    "state": "parameters, t, coordinates, speeds, states, inputs and outputs",
}
