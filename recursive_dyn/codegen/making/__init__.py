"""Machine code from text: compiled, kept on disk, by another process, and told while it lasts."""
