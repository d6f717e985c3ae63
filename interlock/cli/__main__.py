"""``python -m interlock.cli`` does what ``interlock`` does."""

from interlock.cli import main

main()
