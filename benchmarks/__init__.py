"""What Interlock may cost, measured against the same work written by hand: ``python -m benchmarks``."""
