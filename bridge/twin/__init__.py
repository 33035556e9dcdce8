"""Twins of a simulation in maximal coordinates: free bodies of Bullet's that are driven by our generalized forces."""
