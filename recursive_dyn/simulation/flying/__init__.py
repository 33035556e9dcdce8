"""Flight: the integrator's compiled loop as if nothing touched, what it did not take, and charts on the way."""
