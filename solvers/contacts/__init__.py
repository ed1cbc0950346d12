"""Rigid contacts with restitution and Coulomb friction: constraint rows, impacts, contact modes
(open, stick, slip) and their complementarity problem.
"""
