"""Time stepping of compiled dynamics."""

from recursive_dyn.simulation.simulation import Simulation
from recursive_dyn.simulation.state import Snapshot

__all__ = ["Simulation", "Snapshot"]
