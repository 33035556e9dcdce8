"""Expression graph: hash-consed nodes, derivatives on them, and the straight-line programs they become."""
