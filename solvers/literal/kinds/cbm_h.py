"""CBM-H: composite-body method in momenta."""

from kinetree.solvers.literal.kinds import PATH, Form

FORM = Form("CBM-H", code=9, kernel="cbm_h.cbm_h", needs=PATH, momenta=True, place=1)
