"""Values as JSON and back, exactly: what steps are given, give, and keep in the state.

Plain JSON stands for itself: None, booleans, numbers, strings, lists, and dicts with strings for keys. Everything else
is an object whose key ``$`` says what it is: ``{"$": "decimal", "v": "1.50"}``. A dict that has such a key itself is
written as its items.

An object's own code is not run when it is read, neither ``__init__`` nor a validator: it is put together from its
fields as they were. Only a class that has ``to_json`` and ``from_json`` is asked. Errors come back as
:class:`~interlock.errors.RecordedError`. Two places that held one object hold equal ones afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock.errors import InterlockError, StorageError
from interlock.runtime.journal.decoding import Decoder
from interlock.runtime.journal.encoding import JSON, Encoder
from interlock.runtime.journal.message_lists import MessageListForm
from interlock.runtime.journal.record_classes import RecordClasses, classes_in
from interlock.runtime.journal.unrecordable import Unrecordable

__all__ = ["ValueCodec", "classes_in"]


class ValueCodec:
    """Writes values as JSON and reads them.

    Args:
        classes: Classes whose objects may occur, besides those that imported modules hold: see :func:`classes_in`.
            They are needed for classes made in functions, and for those of a module whose name may differ when the
            journal is read, such as ``__main__``.

    Example:
        >>> from datetime import date
        >>> codec = ValueCodec()
        >>> codec.encode({"due": date(2026, 7, 1), "lines": [1, 2.5, None]})
        {'due': {'$': 'date', 'v': '2026-07-01'}, 'lines': [1, 2.5, None]}
        >>> codec.decode(codec.encode({"due": date(2026, 7, 1)}))
        {'due': datetime.date(2026, 7, 1)}
    """

    def __init__(self, classes: Iterable[type] = ()) -> None:
        known = RecordClasses(classes)
        lists = MessageListForm()
        self._encoder = Encoder(known, lists)
        self._decoder = Decoder(known, lists)

    def encode(self, value: object, *, place: str = "the value") -> JSON:
        """The value as JSON that shares nothing with it.

        Args:
            value: Anything.
            place: What it is, for the error: ``"the output of 'triage'"``.

        Raises:
            UnrecordableValue: It, or something in it, has no form; says what, where in it, and what to do.
        """
        try:
            return self._encoder.encode(value)
        except Unrecordable as fault:
            raise fault.told(place) from fault.__cause__

    def decode(self, value: JSON) -> Any:
        """The value that :meth:`encode` was given.

        Raises:
            StorageError: The JSON is none that :meth:`encode` writes, or speaks of a class that is not to be found.
        """
        try:
            return self._decoder.decode(value)
        except InterlockError:
            raise
        except Exception as error:
            raise StorageError(f"a value in the journal cannot be read: {type(error).__name__}: {error}") from error
