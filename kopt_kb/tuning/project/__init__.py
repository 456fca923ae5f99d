"""Campaigns whose candidates are files of a project."""
