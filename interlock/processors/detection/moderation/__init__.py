"""Categories, word lists and turns of phrase for moderation."""
