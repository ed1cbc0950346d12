"""The C shell of native FMUs: the functions of FMI 2.0 and 3.0, which call the engine compiled
ahead of time.
"""
