"""The stages of a chunk's path, one class a kind of node; :mod:`interlock.runtime.chunk_binding` says which is made."""
