"""Joints: elements, and the registry of typed joints."""
