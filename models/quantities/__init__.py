"""What outputs can measure: one registry, and the way from a quantity to sensors and expressions over them."""
