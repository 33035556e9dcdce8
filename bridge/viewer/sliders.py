"""Numbers of a running simulation that a person sets by sliders, without compiling anything again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bridge.viewer.playback import Playback
from recursive_dyn.dynamics.natural_gains import DAMPING_RATIO, FREQUENCY
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.joint_laws.motor import Motor
from recursive_dyn.simulation.simulation import Simulation

TIMES = 4.0  # a gain's slider ends at so many times of what it is at first


@dataclass
class Slider:
    """A number between two bounds, which is read and written by functions; group: what it is of."""

    group: str
    caption: str
    low: float
    high: float
    read: Callable[[], float]
    write: Callable[[float], None]

    def share(self) -> float:
        """Where it is between its bounds, 0 to 1."""
        return min(1.0, max(0.0, (self.read() - self.low) / (self.high - self.low)))


def sliders(playback: Playback) -> list[Slider]:
    """Of coordinates that are plain numbers, of motors that hold one and their gains, of a controller's gains, and of
    the scene's parameters."""
    sim = playback.moving
    assert isinstance(sim, Simulation)
    result = []
    names = sim.dynamics.velocity_coordinates
    for place, slot in sim.dynamics.model.plain_slots:
        low, high = _range(sim, slot)
        if low < high:
            result.append(Slider("coordinates", names[slot], low, high, *_coordinate(playback, place)))
    for name, motor in sim.motors.items():
        if isinstance(motor.position, float):
            low, high = _range(sim, sim.motors.slots(name)[0])
            result.append(Slider("motors", f"motor {name}", low, high, *_setting(sim, name, "position", 0.0)))
            result += _gains(sim, name, motor)
    for gain in ("kp", "kd"):
        of = getattr(sim.control, gain, None)
        if isinstance(of, np.ndarray) and of.any():
            result.append(Slider("gains", f"controller's {gain}, times", 0.0, TIMES, *_scale(sim.control, gain)))
    for name, value in sim.parameters.items():
        size = abs(value) or 1.0
        result.append(Slider("parameters", f"parameter {name}", value - size, value + size, *_parameter(sim, name)))
    return result


def _range(sim: Simulation, slot: int) -> tuple[float, float]:
    low, high = sim.dynamics.limits[slot]
    return (low, high) if np.isfinite([low, high]).all() else (-np.pi, np.pi)


def _gains(sim: Simulation, name: str, motor: Motor) -> list[Slider]:
    """The gains that were given, or the frequency and damping ratio that they follow from."""
    result = []
    for gain, rule, usual in (("kp", "frequency", FREQUENCY), ("kd", "damping_ratio", DAMPING_RATIO)):
        given = getattr(motor, gain)
        if given is None:
            now = getattr(motor, rule)
            now = usual if now is None else now
            caption = f"{name}: {rule.replace('_', ' ')}"
            low = 0.01 * now if rule == "frequency" else 0.0  # a spring without one is none
            result.append(Slider("gains", caption, low, TIMES * now, *_setting(sim, name, rule, now)))
        elif isinstance(given, float) and given > 0.0:
            result.append(Slider("gains", f"{name}: {gain}", 0.0, TIMES * given, *_setting(sim, name, gain, given)))
    return result


def _coordinate(playback: Playback, place: int) -> tuple[Callable[[], float], Callable[[float], None]]:
    sim = playback.moving
    assert isinstance(sim, Simulation)

    def write(value: float) -> None:
        q = sim.q.copy()
        q[place] = value
        if sim.dynamics.constraints:
            try:
                q = sim.dynamics.project(q)[0]
            except StateError:  # out of reach of what else hangs in the loop
                return
        sim.q = q
        playback.history.note()

    return lambda: float(sim.q[place]), write


def _setting(
    sim: Simulation, name: str, field: str, usual: float
) -> tuple[Callable[[], float], Callable[[float], None]]:
    def read() -> float:
        value = getattr(sim.motors[name], field)
        return value if isinstance(value, float) else usual

    def write(value: float) -> None:
        motor: Motor = sim.motors[name]
        sim.motors[name] = replace(motor, **{field: value})  # type: ignore[arg-type]

    return read, write


def _scale(control: Any, gain: str) -> tuple[Callable[[], float], Callable[[float], None]]:
    """All of a controller's gains of one kind, as multiples of what they are now."""
    first = getattr(control, gain).copy()
    place = np.abs(first).argmax()

    def write(value: float) -> None:
        setattr(control, gain, value * first)

    return lambda: float(getattr(control, gain).flat[place] / first.flat[place]), write


def _parameter(sim: Simulation, name: str) -> tuple[Callable[[], float], Callable[[float], None]]:
    def write(value: float) -> None:
        before = sim.parameters[name]
        try:
            sim.parameters[name] = value
        except (ModelError, StateError):
            sim.parameters[name] = before

    return lambda: sim.parameters[name], write
