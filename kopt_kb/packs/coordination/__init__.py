"""Route a task to a specialist, follow a ranked plan, CUDA graphs."""
