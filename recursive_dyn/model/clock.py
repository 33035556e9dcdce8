"""Time as a coordinate, and coordinates whose motion is prescribed: what moves as it does whatever acts on it.

Time is a coordinate like any other, with the rate 1 and no acceleration, that joints, constraints and forces may share.
With it in q and v a joint that time moves is a joint of one coordinate more: S v has dG/dt in it, S-dot v all of its
rate, a constraint's C v its own, and energy is a function of q and v. What is prescribed is an elimination with
1 / D = 0: it hands inertia on and answers no force (hybrid dynamics: Featherstone 2008, Rigid Body Dynamics Algorithms,
section 9.2). The force that it takes is what inverse dynamics asks for there: of time, the power of all that it drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.joint.coordinate import CLOCK

NUMBER = ".motion."  # in the names of parameters that are numbers of a motion


@dataclass(frozen=True, eq=False)
class PrescribedMotion:
    """A coordinate, at ``place`` in q and ``slot`` in v, that is ``value`` over inputs ("parameter", name), time's
    among them."""

    place: int
    slot: int
    value: Scalar

    @cached_property
    def key(self) -> str:
        """Content hash."""
        return content_hash(f"motion of {self.place}, {self.slot}", [self.value])

    @cached_property
    def derived(self) -> tuple[Scalar, Scalar, Scalar]:
        """The value, its rate and its second derivative in time."""
        if not isinstance(self.value, Expression):
            return self.value, 0.0, 0.0
        clock = {self.value.graph.input(("parameter", CLOCK)): 1.0}
        (rate,) = directional_derivative([self.value], clock)
        (second,) = directional_derivative([rate], clock)
        return self.value, rate, second

    def at(self, inputs: Mapping[Any, Scalar]) -> list[Scalar]:
        """``derived`` with the inputs replaced by scalars of another graph."""
        return substitute(list(self.derived), inputs)
