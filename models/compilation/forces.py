"""Every kind of force element and how it is lowered to registers and records."""

from kinetree.models.compilation import forces_basic
from kinetree.models.compilation.forces_contact import CONTACTS
from kinetree.models.compilation.forces_rail import add_rail

LOWER = {**forces_basic.LOWER, **CONTACTS, "rail": add_rail}
