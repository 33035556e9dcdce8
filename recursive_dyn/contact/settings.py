"""How contacts are solved, and what a step tells about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from recursive_dyn.contact.tuning import PUSH_SPEED, SUBSTEPS
from recursive_dyn.errors import StateError


@dataclass
class Settings:
    """How contacts are solved; every attribute may be changed while a simulation runs.

    iterations: most sweeps of an island in a step, a step of Newton's method counting as three; a solve that they end
    early takes energy away, and as many sweeps, ten at least, push overlaps apart; from 400 on what they leave unsolved
    is followed along a path that gets there, by five times as many factorizations at most, which takes ten times as
    long and more; microseconds: most time of all solves of a step, of which parts of it share by their length, a third
    of it for what is solved again, and islands by their rows what making these left (each is swept once at least), a
    quarter of it for pushing overlaps apart (ten sweeps at least; the rest overlaps still): what it ends early takes
    energy away, too, but ends elsewhere in another run, while runs without such a limit are the same to the last bit;
    tolerance: change of velocity in a sweep, m/s, at which it has converged, and ends without energy won whatever it
    is; restitution_threshold: approach speed, m/s, below which nothing bounces that gives back less than all; slop:
    overlap, m, that positions keep, so that resting contacts stay found; push_speed: speed, m/s, at which what overlaps
    is pushed apart at most, and what lies beyond a limit back; detect: "step" finds contacts anew in every timestep,
    "frame" once a call of ``step`` or ``advance``, and again where others may have come near since, or a step is cut
    (in every one while Bullet's own bodies are about); substeps: parts that a timestep may be cut into where something
    moves so fast that it would pass through another body (1: never), up to twice as many where some are shorter than
    one of these; sleep_after: how long what touches each other must have been at rest, s, to sleep until anything acts
    on it (inf: never).
    """

    iterations: int = 200
    microseconds: float = float("inf")
    tolerance: float = 1e-6
    restitution_threshold: float = 0.2
    slop: float = 2e-5
    push_speed: float = PUSH_SPEED
    detect: str = "step"
    substeps: int = SUBSTEPS
    sleep_after: float = float("inf")

    def __setattr__(self, name: str, value: object) -> None:
        _check(name, value)
        object.__setattr__(self, name, value)
        self.__dict__.pop("numbers", None)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """What a solve is given of them, the same object until one is changed."""
        return (
            self.restitution_threshold, self.slop, self.push_speed, self.tolerance, self.iterations, self.microseconds,
            self.substeps,
        )  # fmt: skip


def _check(name: str, value: object) -> None:
    if name not in Settings.__dataclass_fields__:
        raise StateError(f"contact has no setting '{name}'; there are {', '.join(Settings.__dataclass_fields__)}")
    if name == "detect":
        if value not in ("step", "frame"):
            raise StateError(f"contact.detect is 'step' or 'frame', not {value!r}")
        return
    if name in ("microseconds", "sleep_after"):
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            none = "no limit" if name == "microseconds" else "never"
            raise StateError(f"contact.{name} must be > 0, float('inf') for {none}, not {value!r}")
        return
    whole = name in ("iterations", "substeps")
    if whole:
        good = isinstance(value, int) and value >= 1
    else:
        good = isinstance(value, int | float) and 0 <= value < float("inf")
    if not good or isinstance(value, bool):
        raise StateError(f"contact.{name} must be {'a whole number of at least 1' if whole else '>= 0'}, not {value!r}")


@dataclass(frozen=True)
class Solution:
    """What the last step's solve did.

    contacts, rows, islands: how many; iterations: most sweeps of an island, a Newton step as three; residual: the
    largest velocity, m/s, that its last sweep still changed; converged: whether that is within the tolerance;
    penetration: the deepest overlap left at the step's end, m, of contacts found where its flight ended; substeps:
    parts the timestep was cut into; times: seconds of its parts; asleep: how many contacts of what sleeps were not
    solved for.
    """

    contacts: int = 0
    rows: int = 0
    islands: int = 0
    iterations: int = 0
    residual: float = 0.0
    converged: bool = True
    penetration: float = 0.0
    substeps: int = 1
    times: dict[str, float] = field(default_factory=dict)
    asleep: int = 0
