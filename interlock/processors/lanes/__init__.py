"""Lanes: texts that come in pieces, let go as soon as nothing that comes later can change what is found in them."""
