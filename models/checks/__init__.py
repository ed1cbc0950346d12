"""Reading a description whole: the loader, and the checks of every part of it."""
