"""CUDA graphs of torch callables: what keeps code from being captured."""
