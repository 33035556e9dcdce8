"""A simulation among what its bodies may touch, and what is said where nothing looks for it."""

from __future__ import annotations

import warnings

from recursive_dyn.errors import StateError
from recursive_dyn.simulation.handling.pushed import Pushed
from recursive_dyn.simulation.surroundings import Detector, PlainDetector, Surroundings


class Detecting(Pushed):
    """A simulation that is told what finds its contacts."""

    _told_of_contacts: bool = False  # whether somebody said what finds contacts, or that nothing does, or was warned

    @property
    def detect(self) -> Detector | None:
        """What finds contacts at the simulation's state, detect(simulation) -> Contacts; None: nothing touches.

        A mirror and a plugin set it. Where nobody did and the scene has scenery and free bodies with shapes, the first
        step warns; assigning None says that nothing is to touch.
        """
        return None if self.surroundings is None else self.surroundings.detect

    @detect.setter
    def detect(self, detector: Detector | None) -> None:
        if detector is not None and not callable(detector):
            raise StateError(f"detect takes a function of the simulation that returns Contacts, not {detector!r}")
        self.surroundings = None if detector is None else PlainDetector(detector)

    @property
    def surroundings(self) -> Surroundings | None:
        """What may be touched, as a mirror sets it; ``detect`` takes a plain function instead."""
        return self._timesteps.surroundings

    @surroundings.setter
    def surroundings(self, surroundings: Surroundings | None) -> None:
        self._timesteps.surroundings = surroundings
        self._told_of_contacts = True

    def _tell_of_contacts(self, stacklevel: int) -> None:
        """Warn, once, of bodies that would fall through scenery, as nothing finds contacts."""
        self._told_of_contacts = True
        unheld = self._dynamics.hanging.unheld
        body = None if unheld is None else unheld()
        if body is not None:
            warnings.warn(
                f"nothing finds contacts of this simulation: body '{body}' passes through the scenery. Make a"
                " PyBulletMirror(scene, simulation) or a Plugin(scene), and step that; simulation.detect = None says"
                " that nothing is to touch",
                stacklevel=stacklevel + 1,
            )
