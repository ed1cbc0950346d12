"""Hydraulic circuits: the registry of nodes and components, and their shared laws."""
