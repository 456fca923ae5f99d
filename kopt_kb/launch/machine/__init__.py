"""The machine: its health, its ceilings, its profilers."""
