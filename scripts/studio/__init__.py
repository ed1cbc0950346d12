"""The studio: a browser page on this machine to describe, check, run, view, compare and export a
mechanism.
"""
