"""CuTe DSL kernels: each file beside the header that says how its kernel is launched; they compile without a GPU."""
