"""How guards find things: findings and detectors, the copy of a text that is looked at, rules by kind, model judges."""

from __future__ import annotations

from interlock.processors.detection.finding import Detector, Finding
from interlock.processors.detection.scope import Scope

__all__ = ["Detector", "Finding", "Scope"]
