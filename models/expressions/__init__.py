"""Expressions of descriptions: text, graph of nodes, derivatives, registers."""
