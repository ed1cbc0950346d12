"""Force elements: one file per kind in `kinds`; shared laws and geometry beside it."""
