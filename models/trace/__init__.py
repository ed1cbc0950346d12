"""The kernels on symbols: straight-line operations of one mechanism, folded and shared, and what can be made of them."""
