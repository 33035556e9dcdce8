"""Joints and constraints that transmitted more than they bear: what is told of them, and who cuts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from weakref import WeakMethod

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.simulation.flying.applied_forces import AppliedForce, world_wrenches
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.loads.joint_loads import JointLoads
from recursive_dyn.simulation.loads.kicks import Kick
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.surroundings import PlainDetector, Surroundings


@dataclass(frozen=True)
class BrokenJoint:
    """A joint that broke: between ``body`` and its ``parent``, at the end of the step that ended at ``time``, s; force,
    N, and torque, N m about the body's origin, are the most that it transmitted in that step; point: of the body's
    origin then, world axes."""

    body: str
    parent: str
    time: float
    force: float
    torque: float
    point: tuple[float, float, float]


@dataclass(frozen=True)
class BrokenConstraint:
    """A constraint that broke at the end of the step that ended at ``time``, s; force: the greatest norm of its
    multipliers in that step, N where its rows measure m."""

    constraint: str
    time: float
    force: float


class Breakable(Protocol):
    """A simulation, to those who take its joints apart."""

    surroundings: Surroundings | None

    @property
    def dynamics(self) -> Dynamics: ...

    @property
    def time(self) -> float: ...

    @property
    def timestep(self) -> float: ...

    @property
    def arrived(self) -> Present: ...

    def update(self, dynamics: Dynamics) -> None:
        """Go on with other dynamics."""
        ...


class Taken(Protocol):
    """A step as it was taken."""

    memory: Memory

    def borne(self) -> np.ndarray:
        """Forces (nv,) of motors and dry friction in its flight."""
        ...

    def kicked(self) -> Kick | None:
        """The impulse of constraints with which it began."""
        ...


class Preparable(Protocol):
    """A simulation for which dynamics are prepared."""

    @property
    def dynamics(self) -> Dynamics: ...

    def prepare(self, make: Callable[[], Dynamics], urgent: bool = True) -> Any:
        """Have dynamics made and compiled in the background."""
        ...


class Breaking:
    """told, constraints: what broke in the last call of ``step``; going, freed: names of bodies that are cut off in the
    scene, and of constraints that are taken out, and wait for what runs to follow. cuts: whether they are cut then;
    False in copies of a simulation, whose scene is the original's: there they are told of, again and again, and
    hold."""

    def __init__(self) -> None:
        self.told: tuple[BrokenJoint, ...] = ()
        self.constraints: tuple[BrokenConstraint, ...] = ()
        self.cuts = True
        self.going: set[str] = set()
        self.freed: set[str] = set()
        self._follow: WeakMethod[Callable[[], None]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        going, freed = set(self.going), set(self.freed)
        return self.__dict__ | {"cuts": False, "going": going, "freed": freed, "_follow": None}

    def follow_by(self, method: Callable[[], None]) -> None:
        """Who brings a simulation up to date with its scene once a joint was cut: a method, as long as its object is
        held."""
        self._follow = WeakMethod(method)

    def begin(
        self, loads: JointLoads, dynamics: Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
        forces: list[AppliedForce],
    ) -> None:  # fmt: skip
        """A step begins at q, v, under tau and forces on bodies, which no joint needs to transmit."""
        loads.begin()
        loads.external[:] = world_wrenches(dynamics, q, forces) if forces else 0.0
        loads.external += loads.constraints.begin(q, v, tau)

    def end(self, simulation: Breakable, loads: JointLoads, taken: Taken) -> None:
        """A step ended, as it was taken: cut what broke. Loads of parts of it were noted."""
        arrived, h = simulation.arrived, simulation.timestep
        if taken.memory.arrays.parts[0] == 1:
            loads.note(arrived, taken.memory, taken.borne(), h)
        if (kicked := taken.kicked()) is not None:
            loads.kick(kicked, h)
        names = []
        for k in loads.broken():
            if loads.names[k] in self.going:
                continue
            (force, torque), (x, y, z) = loads.sizes[k].tolist(), arrived.poses[k, :3, 3].tolist()
            self.told += (BrokenJoint(loads.names[k], loads.parent(k), simulation.time, force, torque, (x, y, z)),)
            names.append(loads.names[k])
        freed = [name for name in loads.constraints.broken() if name not in self.freed]
        self.constraints += tuple(BrokenConstraint(n, simulation.time, loads.constraints.sizes[n]) for n in freed)
        if (names or freed) and self.cuts:
            self._cut(simulation, names, freed)

    def _cut(self, simulation: Breakable, names: list[str], freed: list[str]) -> None:
        """Cut bodies off, and take constraints out, in the scene that the dynamics were compiled from, and go on with
        what it is then."""
        dynamics, follower = simulation.dynamics, None if self._follow is None else self._follow()
        if dynamics.hanging.cut is None:
            return
        compiled = dynamics.hanging.cut(names, freed)
        self.going.update(names)
        self.freed.update(freed)
        if follower is None or isinstance(simulation.surroundings, PlainDetector | None):
            simulation.update(compiled(dynamics.method, **dynamics.settings))
        else:
            follower()


def follow_breaks(simulation: object, method: Callable[[], None]) -> None:
    """Have a method bring a simulation up to date where its joints break, as long as it feels surroundings; of what
    has no joints to break that is harmless."""
    breaking = getattr(simulation, "breaking", None)
    if isinstance(breaking, Breaking):
        breaking.follow_by(method)


def prepare_breaks(simulation: Preparable) -> None:
    """Have what a simulation is without any one of the joints that may break compiled in the background."""
    dynamics, hanging = simulation.dynamics, simulation.dynamics.hanging
    if hanging.without is not None:
        cuts: list[tuple[list[str], list[str]]] = [([name], []) for name in hanging.strengths]
        cuts += [([], [name]) for name in hanging.bearing]
        for joints, constraints in cuts:
            make = partial(hanging.without, joints, constraints, dynamics.method, dynamics.settings)
            simulation.prepare(make, urgent=False)
