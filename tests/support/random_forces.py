"""Random trees with one force element of a given kind, drawn from the registry of forces."""

from typing import Any

import numpy as np
from random_descriptions import random_description, vector

from kinetree.models import load
from kinetree.models.forces.kinds import KINDS

QUANTITIES = ("power", "stored_energy", "dissipation", "dissipated_energy")


def random_mechanism(kind: str, seed: int, bodies: int = 5, **changes: Any) -> dict[str, Any]:
    """A tree that starts in motion, with the element `f`, everything it can tell, and the integral of its power as the state `work`."""
    rng = np.random.default_rng(seed)
    description = random_description(rng, bodies).description
    force = {
        "kind": kind,
        **KINDS[kind].example,
        **changes,
        **somewhere(KINDS[kind].place, description, rng),
    }
    if force.get("other") == "":  # a second coordinate
        force["other"] = next(
            each for each in plain_coordinates(description) if each != force["coordinate"]
        )
    outputs = {f"f.{quantity}": {"quantity": quantity, "force": "f"} for quantity in QUANTITIES}
    if KINDS[kind].clearance:
        outputs["f.gap"] = {"quantity": "clearance", "force": "f"}
    states = {"work": {"rate": "f.power", "unit": "J"}}
    return description | {
        "forces": {"f": force},
        "outputs": outputs | {"f.value": "force('f')"},
        "states": states,
    }


def somewhere(place: str, description: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Where an element acts: on a coordinate, between two bodies (one may be the ground), or on a body."""
    if place == "coordinate":
        return {"coordinate": str(rng.choice(plain_coordinates(description)))}
    points = [
        {"body": str(body), "point": vector(rng.normal(0.0, 0.3, 3))}
        for body in rng.permutation(["ground", *description["bodies"]])[:2]
    ]
    if place == "between":
        return {"between": points}
    return {**points[0], "body": next(each["body"] for each in points if each["body"] != "ground")}


def plain_coordinates(description: dict[str, Any]) -> list[str]:
    """Coordinates that are no parts of quaternions."""
    turning = [
        name
        for name, joint in description["joints"].items()
        if joint.get("type") in ("spherical", "free")
    ]
    return [
        each
        for each in load(description).compile().coordinates
        if not any(each.startswith(f"{name}.") for name in turning)
    ]
