"""Time stepping of compiled dynamics."""

from recursive_dyn.simulation.simulation import Simulation, Snapshot

__all__ = ["Simulation", "Snapshot"]
