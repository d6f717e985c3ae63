"""Runs that outlive their process: what is written to a journal, and how a run goes on from one."""
