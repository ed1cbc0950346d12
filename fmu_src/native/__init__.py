"""The C shell: FMI 2.0 and 3.0 in front of the engine that was compiled ahead of time."""
