"""Other engines on the same work, each in the way its own documentation shows: ``python -m benchmarks.rivals``.

A page of results is written to ``docs/benchmarks.md``. Each file in ``engines/`` drives one engine; what must be
computed, and the same work by hand, stands in ``workloads.py``.
"""
