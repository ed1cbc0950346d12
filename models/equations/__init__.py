"""Printers of traced equations: readable text, LaTeX, C, Python, Modelica, CasADi."""
