"""Readers of traces: times of kernels, copies and launch calls, without counters."""
