"""FlyDSL kernels for AMD: each with its header in its docstring; they compile without a GPU and ran on none yet."""
