"""Normal forms of formulas, by the rules of S^2 and SO(3)."""
