"""The pythonfmu slave: one script that needs the standard library only, copied into the archive
under a unique name.
"""
