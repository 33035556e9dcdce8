"""The recursions over the tree, written once over scalars."""
