"""Studies: many runs, stabilisation, the carrier under its drives."""
