"""The twelve forms as the literature writes them, with their frames, complements and costs."""
