"""Memory, logs and reports of a campaign as files."""
