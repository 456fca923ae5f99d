"""The tuning workspace on disk: journal, README blocks, memory, audit."""
