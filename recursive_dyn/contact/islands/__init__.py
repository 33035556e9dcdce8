"""Islands, each solved by a method of its own, impacts first, and no energy brought in."""
