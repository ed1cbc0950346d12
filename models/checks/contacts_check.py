"""Checks of contacts: two existing bodies, nonzero directions, coefficients within their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.models.checks.couplings_check import check_direction
from kinetree.models.language.parts.contact_parts import Contact, contact_bodies

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker

PLANE = ("on", "at", "normal")


def check_contacts(checker: Checker) -> None:
    for name, contact in checker.description.contacts.items():
        check_bodies(checker, name, contact)
        check_numbers(checker, name, contact)
    method = checker.description.run.method
    if checker.description.contacts and method not in ("auto", "DEC"):
        checker.complain(
            ("run", "method"),
            repr(method),
            "auto or DEC",
            "contacts are solved with the default engine",
        )
    if checker.description.contacts and checker.description.run.prepare:
        checker.complain(
            ("run", "prepare"),
            "equilibria with rigid contacts",
            hint="an equilibrium does not determine which contacts are closed",
        )


def check_bodies(checker: Checker, name: str, contact: Contact) -> None:
    path = ("contacts", name)
    checker.known_body((*path, "body"), contact.body)
    if contact.against is None:
        checker.known_body((*path, "on"), contact.on)
        check_direction(checker, (*path, "normal"), contact.normal)
    else:
        checker.known_body((*path, "against", "body"), contact.against.body)
        for key in PLANE:
            if key in contact.model_fields_set:
                checker.complain((*path, key), f"{key} beside against", "a plane or a sphere")
    if len(contact_bodies(contact)) == 1:
        checker.complain(
            path, f"a contact of '{contact.body}' with itself", "two bodies, or a body and ground"
        )


def check_numbers(checker: Checker, name: str, contact: Contact) -> None:
    path = ("contacts", name)
    radius, other = (
        checker.number(contact.radius),
        checker.number(contact.against.radius) if contact.against is not None else 1.0,
    )
    for key, value in (
        ("radius", radius),
        ("against", other),
        ("friction", checker.number(contact.friction)),
    ):
        if value is not None and value < 0.0:
            checker.complain((*path, key), f"{value:g}", "a number not below 0")
    if radius == 0.0 == other:
        checker.complain((*path, "radius"), "a point against a point", "a radius above 0")
    restitution, speed = checker.number(contact.restitution), checker.number(contact.rest_speed)
    if restitution is not None and not 0.0 <= restitution <= 1.0:
        checker.complain((*path, "restitution"), f"{restitution:g}", "a number from 0 to 1")
    if speed is not None and not speed > 0.0:
        checker.complain(
            (*path, "rest_speed"),
            f"{speed:g}",
            "a speed above 0",
            "bounces would become ever smaller and have no end",
        )
