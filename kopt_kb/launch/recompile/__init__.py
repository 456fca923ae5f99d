"""Code objects made a second time from their source, by a process that runs none of the candidate's Python."""
