"""CBM: composite-body method, which forms the mass matrix of the joint coordinates."""

from kinetree.solvers.literal.kinds import PATH, Form

FORM = Form("CBM", code=2, kernel="cbm.cbm", needs=PATH, place=2)
