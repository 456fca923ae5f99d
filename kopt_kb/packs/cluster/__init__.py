"""GPUs of several processes and machines."""
