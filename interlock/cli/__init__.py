"""The command line: run an agent or a workflow of a file, and draw it."""

from interlock.cli.app import app, main

__all__ = ["app", "main"]
