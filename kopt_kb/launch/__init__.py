"""Everything that starts a process: kernels judged and timed, commands of projects, profilers, the simulator."""
