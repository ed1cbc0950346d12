"""The default engine: kinematics, loads, elimination, reactions, energy."""
