"""DEC, decomposed: the default engine."""

from kinetree.solvers.literal.kinds import Form

FORM = Form("DEC", code=0, place=7)
