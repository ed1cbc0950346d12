"""Programs for developers of Kinetree; they come with the repository and not with the wheel."""
