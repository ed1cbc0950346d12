"""Co-simulation: slaves, masters, the hydraulic drive, and the scenarios that join them."""
