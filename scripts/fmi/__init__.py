"""Host programs that run built FMUs, and checks of FMUs."""
