"""The law of every kind of controller as expressions: its commands and the update (sampled) or rate
(continuous) of its memory.

`Law.samples` are the measured values, under names that the other expressions use. `memory` gives
the new value of every entry from the old ones (sampled, T is the period) or its rate (continuous);
`begin` the initial value of an entry. Expressions name entries by `name`.key.

Sampled PID: backward differences, e = setpoint - measure, d = d⁻ + (slope - d⁻) T/(filter + T), i =
i⁻ + ki e T unless the command is at a limit and e drives it further (or i += (limited - wanted)
T/tracking). Lead-lag and notch: the bilinear transform, the notch exact at its frequency.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kinetree.models.expressions.differentiate import time_derivatives
from kinetree.models.expressions.parse import ExpressionError, parse
from kinetree.models.expressions.to_text import written
from kinetree.models.language.parts import controller_parts as parts

Limit = Callable[[str], str]


@dataclass
class Law:
    """The expressions of one controller."""

    samples: dict[str, str] = field(
        default_factory=dict
    )  # entry: what is measured, with the faults of a sensor
    given: dict[str, str] = field(
        default_factory=dict
    )  # entry: setpoints and feed-forwards, read as they are
    memory: dict[str, str] = field(default_factory=dict)  # entry: its next value, or its rate
    begin: dict[str, str] = field(default_factory=dict)  # entry: where it begins; left out: 0
    commands: list[str] = field(default_factory=list)


def brace(value: object) -> str:
    """Return a number or an expression as an operand, in brackets if needed."""
    return f"({value})" if isinstance(value, str) else f"({value!r})"


def weighted(pairs: list[tuple[float, str]]) -> str:
    """Return the expression of a sum of factor times name, without terms with factor zero."""
    return " + ".join(f"({number!r})*{name}" for number, name in pairs if number) or "0"


def law_of(name: str, controller: parts.Controlled, limits: list[Limit], first: str) -> Law:
    """Return the expressions of a controller, with its commands limited by `limits`; `first` is
    true at the first sample ("0": never).
    """
    law = Law()
    lead = forward(controller) if isinstance(controller, parts.Tracking) else []
    if controller.offset != 0.0 or lead:
        law.given["ahead"] = " + ".join([str(controller.offset), *lead])
    ahead = f" + {name}.ahead" if law.given else ""
    if isinstance(controller, parts.Tracking):
        law.samples["measured"] = brace(controller.measure)
        if controller.setpoint != 0.0:
            law.given["wanted"] = brace(controller.setpoint)
    if isinstance(controller, parts.PidController):
        pid(law, name, controller, limits[0], first, ahead)
    elif isinstance(controller, parts.LeadLagController):
        lead_lag(law, name, controller, first, ahead)
    elif isinstance(controller, parts.NotchController):
        notch(law, name, controller, first, ahead)
    elif isinstance(controller, parts.StateFeedback):
        state_feedback(law, name, controller, ahead)
    elif isinstance(controller, parts.ObserverController):
        observer(law, name, controller, limits, ahead)
    elif isinstance(controller, parts.PredictiveController):
        several = len(controller.commands) > 1
        law.commands = [
            f"{name}.{key}.plan" if several else f"{name}.plan" for key in controller.commands
        ]
    elif isinstance(controller, (parts.Saturation, parts.RateLimit, parts.Sensor)):
        law.samples["measured"] = brace(controller.input)
        law.commands = [f"{name}.measured{ahead}"]
    return law


def forward(c: parts.Tracking) -> list[str]:
    """Return the feed-forward terms: gains times derivatives of the setpoint, differentiated
    symbolically.
    """
    gains = (c.speed_forward, c.acceleration_forward)
    if gains == (0.0, 0.0):
        return []
    try:
        rates = time_derivatives(parse(c.setpoint))[1:]
        return [
            f"{brace(gain)}*{brace(written(rate))}"
            for gain, rate in zip(gains, rates, strict=True)
            if gain != 0.0
        ]
    except ExpressionError:  # told by the check
        return []


def error_of(law: Law, name: str, weight: object = 1.0) -> str:
    """Return the expression weight * setpoint - measure."""
    if "wanted" not in law.given or weight == 0.0:
        return f"(-{name}.measured)"
    wanted = f"{name}.wanted" if weight == 1.0 else f"{brace(weight)}*{name}.wanted"
    return f"({wanted} - {name}.measured)"


def pid(law: Law, name: str, c: parts.PidController, limit: Limit, first: str, ahead: str) -> None:
    e, sampled = error_of(law, name), c.period is not None
    terms = [f"{brace(c.kp)}*{error_of(law, name, c.setpoint_weight)}"] if c.kp != 0.0 else []
    if c.kd != 0.0:
        slow = error_of(law, name, c.derivative_weight)
        if sampled:
            slope = f"(if({first}, 0, {slow} - {name}.before)/{brace(c.period)})"
            law.memory["before"], law.begin["before"] = slow, slow
            if c.filter != 0.0:
                law.memory["slope"] = (
                    f"{name}.slope + ({slope} - {name}.slope)*{brace(c.period)}/({brace(c.filter)} + {brace(c.period)})"
                )
                slope = f"({law.memory['slope']})"
        else:
            slope = f"(({slow} - {name}.filtered)/{brace(c.filter)})"
            law.memory["filtered"], law.begin["filtered"] = slope, slow
        terms.append(f"{brace(c.kd)}*{slope}")
    free = (" + ".join(terms) or "0") + ahead
    if c.ki == 0.0:
        law.commands = [free]
        return
    growth, integral = f"{brace(c.ki)}*{e}", f"{name}.integral"
    step = f"*if({first}, 0, {brace(c.period)})" if sampled else ""
    grown = f"({integral} + {growth}{step})" if sampled else integral
    wanted = f"({free} + {grown})"
    held = limit(wanted)
    law.commands = [wanted]
    if held == wanted:
        change = f"{growth}{step}"
    elif c.tracking is not None:
        change = f"({growth} + ({held} - {wanted})/{brace(c.tracking)}){step}"
    elif sampled:  # grows up to where the command stands at its limit
        full = f"{held} - ({free})"
        beyond = f"if({wanted} > {held}, min({grown}, max({integral}, {full})), max({grown}, min({integral}, {full})))"
        law.memory["integral"] = f"if({held} == {wanted}, {grown}, {beyond})"
        return
    else:  # slower the further the command is wanted beyond its limit, down to nothing: continuous
        slowed = f"{growth} - ({wanted} - {held})/{brace(c.lag)}"
        above = f"min({growth}, max(0, {slowed}))"
        change = f"if({wanted} > {held}, {above}, max({growth}, min(0, {slowed})))"
    law.memory["integral"] = f"{integral} + {change}" if sampled else change


def lead_lag(law: Law, name: str, c: parts.LeadLagController, first: str, ahead: str) -> None:
    e, T1, T2, gain = error_of(law, name), brace(c.lead), brace(c.lag_time), brace(c.gain)
    if c.period is None:
        law.memory["slow"], law.begin["slow"] = f"({e} - {name}.slow)/{T2}", e
        law.commands = [f"{gain}*({name}.slow + ({e} - {name}.slow)*{T1}/{T2}){ahead}"]
        return
    k = f"(2/{brace(c.period)})"
    new = f"((({T1}*{k} + 1)*{e} + (1 - {T1}*{k})*{name}.before - (1 - {T2}*{k})*{name}.passed)/({T2}*{k} + 1))"
    passed = f"if({first}, {e}, {new})"
    law.memory = {"before": e, "passed": passed}
    law.begin = {"before": e, "passed": e}
    law.commands = [f"{gain}*{passed}{ahead}"]


def notch(law: Law, name: str, c: parts.NotchController, first: str, ahead: str) -> None:
    e, gain, w = error_of(law, name), brace(c.gain), f"(2*pi*{brace(c.frequency)})"
    if c.period is None:
        law.memory = {
            "swing": f"{name}.sway",
            "sway": f"{w}*{w}*({e} - {name}.swing) - 2*{brace(c.width)}*{w}*{name}.sway",
        }
        law.begin["swing"] = e
        law.commands = [
            f"{gain}*({e} + 2*({brace(c.depth)} - {brace(c.width)})/{w}*{name}.sway){ahead}"
        ]
        return
    k = f"({w}/tan(0.5*{w}*{brace(c.period)}))"
    ends = {
        ratio: [f"({k}*{k} {sign} 2*{brace(ratio)}*{w}*{k} + {w}*{w})" for sign in "+-"]
        for ratio in (c.depth, c.width)
    }
    middle = f"(2*({w}*{w} - {k}*{k}))"
    zeros = f"{ends[c.depth][0]}*{e} + {middle}*{name}.before + {ends[c.depth][1]}*{name}.before2"
    new = f"(({zeros} - {middle}*{name}.passed - {ends[c.width][1]}*{name}.passed2)/{ends[c.width][0]})"
    passed = f"if({first}, {e}, {new})"
    law.memory = {"before": e, "passed": passed}
    law.memory |= {f"{key}2": f"if({first}, {e}, {name}.{key})" for key in ("before", "passed")}
    law.begin = dict.fromkeys(law.memory, e)
    law.commands = [f"{gain}*{passed}{ahead}"]


def state_feedback(law: Law, name: str, c: parts.StateFeedback, ahead: str) -> None:
    terms = []
    for k, (value, gain) in enumerate(c.gains.items(), 1):
        law.samples[f"measured{k}"] = brace(value)
        rest = c.rests.get(value, 0.0)
        if rest != 0.0:
            law.given[f"rest{k}"] = brace(rest)
        terms.append(
            f"{brace(gain)}*({name}.measured{k}" + (f" - {name}.rest{k})" if rest != 0.0 else ")")
        )
    law.commands = [f"-({' + '.join(terms) or '0'}){ahead}"]


def misshapen(c: parts.ObserverController) -> dict[str, str]:
    """Return the observer matrices of wrong shape, with the shapes they need."""
    n, p, m = len(c.A), len(c.measures), len(c.K)
    shapes = {"A": (n, n), "B": (n, m), "C": (p, n), "L": (n, p), "K": (m, n)}
    return {
        key: f"{rows} by {columns} ({n} states, {p} measures, {m} commands)"
        for key, (rows, columns) in shapes.items()
        if not n * p * m
        or len(getattr(c, key)) != rows
        or any(len(row) != columns for row in getattr(c, key))
    }


def observer(
    law: Law, name: str, c: parts.ObserverController, limits: list[Limit], ahead: str
) -> None:
    if misshapen(c):  # told by the check
        law.commands = ["0"] * len(c.K)
        return
    order = len(c.A)
    z = [f"{name}.z{k}" for k in range(1, order + 1)]
    for k, measure in enumerate(c.measures, 1):
        law.samples[f"measured{k}"] = brace(measure)
    wrong = [
        f"({name}.measured{k} - ({weighted(list(zip(row, z, strict=True)))}))"
        for k, row in enumerate(c.C, 1)
    ]
    seen = (
        [
            f"({z[i]} + {weighted([(g, w) for g, w in zip(c.L[i], wrong, strict=True)])})"
            for i in range(order)
        ]
        if c.period is not None
        else z
    )
    law.commands = [f"-({weighted(list(zip(row, seen, strict=True)))}){ahead}" for row in c.K]
    acted = [
        f"({limit(text)}{ahead.replace('+', '-')})"
        for limit, text in zip(limits, law.commands, strict=True)
    ]
    for i in range(order):
        pairs = [*zip(c.A[i], seen, strict=True), *zip(c.B[i], acted, strict=True)]
        pairs += [] if c.period is not None else list(zip(c.L[i], wrong, strict=True))
        law.memory[f"z{i + 1}"] = weighted(pairs)
