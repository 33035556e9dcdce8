"""What an integrator is: the compiled function behind a step, the loop around it, its definition, its two shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.codegen.function_list import Values
from recursive_dyn.errors import StateError
from recursive_dyn.graph.expression import Scalar
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion.context import Function

StatePair = tuple[np.ndarray, np.ndarray]  # q (nq,), v (nv,)


class ModelEquations(Protocol):
    """What definitions of steps are written over: the compiled functions of a model, by name."""

    @property
    def model(self) -> Model:
        """The tree."""

    @property
    def parameters(self) -> Values:
        """Its parameters."""

    def call(self, function: str, *arguments: Any) -> np.ndarray:
        """A function of ``dynamics.functions``."""


@dataclass(frozen=True)
class Integrator:
    """A rule that takes the state (q, v) over a step h under forces tau.

    function, graph: name and definition of the compiled function that ``loop``, IR text made from a kernel's entry and
    its sizes, steps with. definition: one step written out in plain Python, (q, v) from (equations, q, v, tau, h).
    order: of a motion's error, with dampers too. share: of the step by which positions follow a change of the velocity
    at its end; implicit: of the step with which damping and springs enter the mass matrix that answers impulses.
    pressed: name of the rule by which trees with springs, dampers or a law's forces fly while impulses change them, if
        not by this one; loads: whether it takes forces that answer accelerations (``driven.loaded``).
    held: whether dampers and springs pull all the step as backward Euler has them, in a loop that can that too.
    passing: name of the rule by which a step is taken, in parts, at which constraints depend on each other, if any.
    beside: another function of the same inputs that the loop calls, by what follows FUNCTION_ in its name: "energies"
    that it watches.
    holonomic: whether it takes no constraints but those between positions.
    goes_on: whether a step begins where the last one leads on (``compiled_loop.EXPECTED``).
    kinks: whether steps see by themselves that the rate of a prescribed motion jumps, as those between momenta do; by
        other rules it strikes as a step begins (``stepping.leading``).
    """

    name: str
    function: str
    graph: Function
    loop: Callable[[str, Sizes], str]
    definition: Callable[[ModelEquations, np.ndarray, np.ndarray, np.ndarray, float], StatePair]
    order: int
    share: float
    implicit: float
    pressed: str = ""
    loads: bool = False
    held: bool = False
    passing: str = ""
    beside: tuple[str, Function] | None = None
    holonomic: bool = False
    goes_on: bool = False
    kinks: bool = False

    @property
    def answering(self) -> float:
        """Of the step, by how much positions follow velocities where springs answer impulses as the rule for what is
        pressed has them, else as ``implicit`` has them."""
        return self.share if self.pressed else self.implicit

    @property
    def beside_name(self) -> str:
        """Name of the function ``beside``; "" if there is none."""
        return "" if self.beside is None else f"{self.function}_{self.beside[0]}"

    def check(self, model: Model) -> None:
        """StateError naming a constraint of a model that the rule does not take."""
        for constraint in model.constraints if self.holonomic else ():
            if not constraint.holonomic:
                raise StateError(
                    f"'{self.name}' takes no constraint between velocities as '{constraint.name}' is; choose"
                    " 'implicit_midpoint' for this scene"
                )


@dataclass(frozen=True, eq=False)
class JointForces:
    """Damping, stiffness and rest position of every velocity coordinate (nv,), and stiffness of balls' springs."""

    damping: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    torsion: np.ndarray


@once
def joint_forces(model: Model) -> JointForces:
    """What the joints of a model do by themselves: to be read only."""
    told = [(c.damping, c.stiffness, c.rest, c.torsion) for c in model.coordinates]
    rows = np.array(told, dtype=float).reshape(-1, 4)
    rows = np.ascontiguousarray(rows.T)
    rows.flags.writeable = False
    return JointForces(*rows)


def elements(equations: ModelEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Generalized forces (nv,) of the scene's force elements: what is passive and not the joints' own."""
    own = joint_forces(equations.model)
    stretched = plain_positions(equations.model, q) - own.rest
    return equations.call("passive_forces", q, v) + own.damping * v + own.stiffness * stretched


def plain_positions(model: Model, q: np.ndarray) -> np.ndarray:
    """Positions (nv,) of the coordinates whose velocity is their time derivative, 0 of the others."""
    result = np.zeros(model.nv)
    for place, slot in model.plain_slots:
        result[slot] = q[place]
    return result


Given = tuple[list[int], np.ndarray]  # slots of what is prescribed, and what is


def given_accelerations(equations: ModelEquations, q: np.ndarray, v: np.ndarray) -> Given:
    """Those of what is prescribed."""
    slots = sorted(equations.model.prescribed)
    return slots, equations.call("forward_dynamics", q, v, np.zeros(len(v)))[slots] if slots else np.zeros(0)


def in_time(equations: ModelEquations, q: np.ndarray, v: np.ndarray) -> StatePair:
    """A state with what is prescribed as it is at the time in q."""
    if not equations.model.prescribed:
        return q, v
    q_then, v_then = np.split(equations.call("in_time", q, v), [len(q)])
    return q_then, v_then


def accelerations(
    M: np.ndarray, force: np.ndarray, C: np.ndarray, wanted: np.ndarray, given: Given | None = None
) -> np.ndarray:
    """a (nv,) with M a = force + C^T lambda and C a = wanted (m,), but in the rows of what is given of a."""
    m = len(C)
    if given is not None and given[0]:
        slots, values = given
        a, free = np.zeros(len(force)), np.setdiff1d(np.arange(len(force)), slots)
        a[slots] = values
        force, wanted = force - M @ a, wanted - C @ a
        a[free] = accelerations(M[np.ix_(free, free)], force[free], C[:, free], wanted)
        return a
    if not m:
        return np.linalg.solve(M, force)
    system = np.block([[M, -C.T], [C, np.zeros((m, m))]])
    return np.linalg.lstsq(system, np.concatenate([force, wanted]), rcond=None)[0][: len(force)]


def numbers(equations: ModelEquations, scalars: Any) -> np.ndarray:
    """Scalars over a model's parameters at their present values, same shape."""
    values: dict[Any, Scalar] = {
        ("parameter", name): value
        for (name, _), value in zip(equations.model.parameters, equations.parameters.values_array.tolist(), strict=True)
    }
    flat = np.asarray(scalars, dtype=object)
    return np.array(evaluate(list(flat.flat), values), dtype=float).reshape(flat.shape)
