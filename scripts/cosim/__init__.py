"""Co-simulation: slaves, masters, the hydraulic drive, and the scenarios that connect them."""
