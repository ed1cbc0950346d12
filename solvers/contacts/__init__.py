"""Rigid contacts with restitution and Coulomb friction: their rows, impacts, resting and sliding, and the complementarity that decides."""
