"""Events: location by root finding, guard states, cascades, stage changes, model exchange."""
