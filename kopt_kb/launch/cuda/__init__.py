"""CUDA C++ without a GPU: a launcher as data in the source's own header, NVRTC, and cubins read."""
