"""Energies, momenta and what impulses change of them."""
