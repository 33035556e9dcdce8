"""Whether formulas are equal, and equations have the same solutions, in exact arithmetic."""
