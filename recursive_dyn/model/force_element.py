"""Force elements written as expressions: springs, drag, muscles, whatever acts between bodies and on coordinates.

A term is a measure and the force along it: a measure phi (a length, an angle, a coordinate) or a speed psi that is
linear in velocities, as the rows of constraints have them, and a strength f that may depend on all that rows may.
Its generalized forces are f dpsi/dv: its power is f psi. An energy U adds -dU/dq.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar
from recursive_dyn.graph.program import content_hash
from recursive_dyn.model.constraint import Constraint, bound, resolved

OWN_RATE = "its rate"  # in a strength: the rate of the measure that it is of


@dataclass(frozen=True, eq=False)
class ForceTerm:
    """A force ``strength`` along a measure, or against a speed: generalized forces strength dpsi/dv."""

    measure: Constraint
    strength: Scalar


@dataclass(frozen=True, eq=False)
class ForceElement:
    """A named element: its terms, whose strengths may hold OWN_RATE, and the energy whose gradient it follows, with the
    stretches y, N^1/2 m^1/2, of which it is sum y^2 / 2, where it is known to be that (see ``element_slopes``)."""

    name: str
    terms: tuple[ForceTerm, ...]
    energy: Constraint | None = None
    stretches: tuple[Constraint, ...] = ()

    @cached_property
    def key(self) -> str:
        """Content hash."""
        holonomic = [row.holonomic for row in self.rows]
        return content_hash(f"{self.name} {holonomic} {self.energy is None} {len(self.stretches)}", self.scalars)

    @property
    def slopes(self) -> int:
        """How many directions it is stiff in, as far as that is known."""
        return 0 if self.energy is None else max(1, len(self.stretches))

    @property
    def scalars(self) -> list[Scalar]:
        """All that it is written in."""
        return [row.expression for row in self.rows] + [t.strength for t in self.terms]

    @property
    def rows(self) -> list[Constraint]:
        """Measures, the energy and stretches."""
        own = [] if self.energy is None else [self.energy]
        return [*(t.measure for t in self.terms), *own, *self.stretches]


@dataclass(frozen=True, eq=False)
class ElementSpec:
    """An element as a scene states it, over inputs ("parameter", name): (measure or speed, strength) pairs, energy, and
    stretches y of which that is sum y^2 / 2, or none where it is not, or nobody knows."""

    name: str
    terms: tuple[tuple[Scalar, Scalar], ...] = ()
    energy: Scalar | None = None
    stretches: tuple[Scalar, ...] = ()

    @property
    def scalars(self) -> list[Scalar]:
        """All that it is written in."""
        own = [] if self.energy is None else [self.energy]
        return [*(x for pair in self.terms for x in pair), *own, *self.stretches]


def element(
    spec: ElementSpec, bodies: Mapping[str, int], slots: Mapping[str, Any], parameters: frozenset[str]
) -> ForceElement:
    """The element over resolved inputs. ModelError names what is unknown."""
    what = f"force element '{spec.name}'"
    terms, own = [], {**slots, OWN_RATE: (OWN_RATE,)}
    for measure, strength in spec.terms:
        row = bound(spec.name, measure, bodies, slots, parameters, what)
        terms.append(ForceTerm(row, resolved(what, strength, bodies, own, parameters)[0]))
    if spec.energy is None:
        return ForceElement(spec.name, tuple(terms))
    energy = bound(spec.name, spec.energy, bodies, slots, parameters, what)
    if not energy.holonomic:
        raise ModelError(f"{what}: an energy is a function of positions; let what depends on velocities be a force")
    stretches = [bound(spec.name, y, bodies, slots, parameters, what) for y in spec.stretches]
    return ForceElement(spec.name, tuple(terms), energy, tuple(stretches))


def elements(
    specs: Sequence[ElementSpec], bodies: Mapping[str, int], slots: Mapping[str, Any], parameters: frozenset[str]
) -> tuple[ForceElement, ...]:
    """``element`` of each."""
    return tuple(element(spec, bodies, slots, parameters) for spec in specs)
