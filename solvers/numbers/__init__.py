"""Number types with several components: SIMD lanes of states, and duals (values with derivatives).
The kernels of the engine compile for them unchanged.
"""
