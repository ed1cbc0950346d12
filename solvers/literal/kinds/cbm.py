"""CBM, composite bodies: the mass matrix of the speeds."""

from kinetree.solvers.literal.kinds import PATH, Form

FORM = Form("CBM", code=2, kernel="cbm.cbm", needs=PATH, place=2)
