"""A joint from its transform alone: motion subspace, bias, charts, and what a joint must be."""
