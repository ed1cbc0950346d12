"""Hydraulic circuits: the registry of places and elements, and what they bring together."""
