"""Optimal control: linear-quadratic regulators at equilibria and along motions, and the motions of least cost."""
