"""The commands as tools for agents (MCP)."""
