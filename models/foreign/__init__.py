"""Robots from their own files: URDF and MJCF as descriptions of this format."""
