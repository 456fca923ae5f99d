"""What the kernel is launched with."""

STAGES = 2
