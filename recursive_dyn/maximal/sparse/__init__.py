"""Sparse factors of links and joints: the order of elimination, trees, loops."""
