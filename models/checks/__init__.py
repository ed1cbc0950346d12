"""Reading and checking of complete descriptions: the loader, and the checks of every part."""
