"""Programs for developers of Kinetree; they are in the repository but not in the wheel."""
