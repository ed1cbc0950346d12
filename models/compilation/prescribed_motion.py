"""Motions prescribed by inputs in transforms and couplings: displacement, rate and acceleration are
computed before the kinematics.

A second-order filter makes a reference r of an input s: r̈ = ω² (s - r) - 2 ζ ω ṙ. The reference
and its rate are states, so that position and velocity of the driven part never jump, whatever the
input does; a ramp is followed with a lag of 2 ζ/ω times its rate.
"""

from __future__ import annotations

from kinetree.models.compilation.structure_builder import Builder
from kinetree.models.description.reading.source_location import key_path
from kinetree.models.expressions.internal_names import early_name, rate_of_state
from kinetree.models.expressions.node_arithmetic import E, name
from kinetree.models.expressions.registers import TIME
from kinetree.models.language.parts.input_motion_parts import (
    Following,
    amount_name,
    filter_states,
    followings,
)


def early(builder: Builder, key: str) -> E:
    """Return an input or state as a register that is written before the kinematics are evaluated."""
    label = early_name(key)
    if label not in builder.registers.names:
        builder.registers.names[label] = builder.registers.names[key]
        builder.registers.level(label, TIME)
    return name(label)


def acceleration(builder: Builder, follow: Following, path: str) -> E:
    """Return the acceleration of the reference filter that follows an input."""
    reference, rate = (early(builder, each) for each in filter_states(follow.input))
    haste, damping = (
        E(builder.node(follow.bandwidth or 0.0, f"{path}.bandwidth")),
        E(builder.node(follow.damping, f"{path}.damping")),
    )
    return haste * haste * (early(builder, follow.input) - reference) - 2.0 * damping * haste * rate


def add_followings(builder: Builder) -> None:
    """Add the displacements that follow inputs, with their derivatives and filters, after all
    states have registers.
    """
    for path, follow in followings(builder.description):
        label = amount_name(follow)
        if label in builder.given:
            continue
        key = key_path(path)
        if follow.bandwidth is None:
            amount, rate = early(builder, follow.input), early(builder, follow.rate or "")
            second = early(builder, follow.acceleration) if follow.acceleration else None
        else:
            reference, reference_rate = filter_states(follow.input)
            amount, rate = early(builder, reference), early(builder, reference_rate)
            second = acceleration(builder, follow, key)
            builder.define(rate_of_state(reference), name(reference_rate).node)
            builder.define(rate_of_state(reference_rate), second.node)
        builder.registers.link(label, amount.node)
        builder.given.add(label)
        builder.rates_given[amount.node.key] = rate.node  # type: ignore[attr-defined]
        if second is not None:
            builder.rates_given[rate.node.key] = second.node  # type: ignore[attr-defined]
