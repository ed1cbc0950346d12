"""The default engine: kinematics, loads, recursive elimination (DEC), reactions, energy."""
