"""DRT: direct method, mass matrix BᵀMB from the explicit matrix B of all bodies."""

from kinetree.solvers.literal.kinds import PATH, Form

FORM = Form("DRT", code=1, kernel="drt.drt", needs=PATH | {"direct"}, place=1)
