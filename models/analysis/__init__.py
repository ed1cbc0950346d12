"""Analyses other than simulation: statics, linearisation, identification, derivatives, evaluation
of many states.
"""
