"""Recognisers of personal data, one kind a file, and what is put in its place."""
