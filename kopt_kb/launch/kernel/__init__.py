"""What a kernel file declares, its results compared, its times taken."""
