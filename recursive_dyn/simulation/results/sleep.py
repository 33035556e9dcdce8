"""Who sleeps, and waking all of them."""

from __future__ import annotations

from recursive_dyn.contact.forest_layout import layout
from recursive_dyn.simulation.kept.sleeping import trees_of_bodies, wake_all
from recursive_dyn.simulation.results.transmitted import Transmitted


class Sleep(Transmitted):
    """What a simulation tells of what sleeps, see ``contact.sleep_after``."""

    @property
    def asleep(self) -> tuple[str, ...]:
        """Names of the bodies that sleep: they stay where they are until anything acts on them."""
        rested, model = self._timesteps.memory.arrays.slept.rested, self._dynamics.model
        if not (rested < 0.0).any():
            return ()
        trees = trees_of_bodies(model, layout(model))
        names = zip(model.body_names, trees.tolist(), strict=True)
        return tuple(name for name, tree in names if tree >= 0 and rested[tree] < 0.0)

    def wake(self) -> None:
        """Wake all that sleeps, as after a change that no step sees, such as another friction between two bodies."""
        wake_all(self._timesteps.memory.arrays.slept)
