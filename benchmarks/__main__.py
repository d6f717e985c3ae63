"""``python -m benchmarks``: every budget, measured on this machine."""

from __future__ import annotations

import sys

from benchmarks.report import main
from benchmarks.rivals.beside import last_figures
from benchmarks.rows import ROWS

if __name__ == "__main__":
    sys.exit(main(ROWS, beside=last_figures()))
