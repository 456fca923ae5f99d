"""A project's own files and commands: what project.toml says, and what its commands leave."""
