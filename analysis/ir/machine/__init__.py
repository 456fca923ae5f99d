"""Instruction sets as text: what a compiled kernel contains, and whether that meets the ISA targets."""
