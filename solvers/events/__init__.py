"""Events: location by root finding, guard states, cascades, changes of stage, model exchange."""
