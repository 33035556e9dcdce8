"""What a game sets of a plugin: refused where it is no number that it may be, or the name is misspelt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from bridge.plugin.game_events import EventLog
from recursive_dyn.errors import StateError, listed, misspelt
from recursive_dyn.maximal.holding import MAXIMAL
from recursive_dyn.simulation.state import real


def checked_speed(value: object) -> float:
    """A speed of approach, m/s. Raises StateError."""
    speed = real(value)
    if not 0.0 <= speed < np.inf:
        raise StateError(f"hit_speed is a speed of approach, m/s, not below 0: not {value!r}")
    return speed


def check_settings(method: str, settings: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise StateError for settings that only methods of maximal coordinates have; known: what a plugin takes."""
    if settings and method not in MAXIMAL:
        first = next(iter(settings))
        raise StateError(f"a Plugin takes no '{first}'; it takes {listed(sorted(known), first)}")


def check_callback(act: Callable[..., object]) -> None:
    """Raise StateError for what cannot be called."""
    if not callable(act):
        raise StateError(f"before_step and after_step hold functions of the plugin, not {act!r}")


class CheckedSettings:
    """A plugin's settings that may change while it runs."""

    _log: EventLog
    _closed: bool

    @property
    def hit_speed(self) -> float:
        """The speed of approach, m/s, from which on a touch is told as a hit too. StateError for one below 0."""
        return self._log.hit_speed

    @hit_speed.setter
    def hit_speed(self, value: float) -> None:
        self._log.hit_speed = checked_speed(value)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_closed" in vars(self) and not name.startswith("_") and name not in vars(self):
            known = [own for own in (*vars(self), *dir(type(self))) if not own.startswith("_")]
            if meant := misspelt(name, known):
                raise StateError(f"a {type(self).__name__} has no '{name}'; did you mean '{meant}'?")
        object.__setattr__(self, name, value)
