"""Signs of prompt injection, what the words around them do to them, and encoded text."""
