"""Advancing a simulation unit to a target time: steps, velocity jumps, changing inputs, runs in
SIMD lanes.
"""
