"""The studio: a page on this machine on which a mechanism is described, checked, run, seen, compared and packed."""
