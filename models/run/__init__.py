"""Motion over time: units, stages, integration, replay."""
