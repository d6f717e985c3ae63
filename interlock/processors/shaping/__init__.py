"""Shaping: processors that change what passes, without judging it."""

from __future__ import annotations

from interlock.processors.shaping.unicode_normalizer import UnicodeNormalizer

__all__ = ["UnicodeNormalizer"]
