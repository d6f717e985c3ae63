"""Recovery: processors that know what to do about a model call that failed."""

from __future__ import annotations

from interlock.processors.recovery.prefill_error_handler import PrefillErrorHandler
from interlock.processors.recovery.stream_error_retry import StreamErrorRetryProcessor

__all__ = ["PrefillErrorHandler", "StreamErrorRetryProcessor"]
