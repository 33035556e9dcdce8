"""Whether steps of a flight are taken in another way than its rule's: of most never; see ``passing`` for others."""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.integrator import StatePair


class NoOtherWay:
    """The part of a flight that says that no step is."""

    def retaken(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair | None:
        """Where a step from q (nq,) and v (nv,) leads in another way than that of ``advance``, which could not take it
        or left constraints behind; None if there is no other."""
        return None

    def strained(self, counted: np.ndarray) -> bool:
        """Whether, since this was its tally, a step was taken that is to be taken in another way."""
        return False

    def untold(self) -> None:
        """Tell nothing that is unexplained of the last step, which did not lead where it ended."""

    def warm_up(self) -> None:
        """Compile, or load, what every step looks at to say so."""
