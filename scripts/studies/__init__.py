"""Studies: many runs, optimisation, controller tuning, and the carrier with its drives."""
