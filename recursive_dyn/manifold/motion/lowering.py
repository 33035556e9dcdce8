"""Equations of motion as scalars of the expression graph: M y = f + C^T lambda with C y + gamma = 0, solved for y.

The unknowns y are the accelerations in the tangent spaces (see ``tangent``), two of a unit vector, so that M is regular
and omega' . q = 0. The rows r(y, lambda) are linear in them and in the multipliers: M = dr/dy and f = - r(0, 0) are
exact. M is factored as L^T D L, multipliers are eliminated with C M^-1 C^T (Lagrange-d'Alembert; Lee, Leok & McClamroch
2018, Global Formulations of Lagrangian and Hamiltonian Dynamics on Manifolds).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array, reachable, substitute
from recursive_dyn.manifold.derivation.legendre import energy
from recursive_dyn.manifold.formula.calculus import dt, leaves
from recursive_dyn.manifold.formula.evaluation import Evaluator, trajectory
from recursive_dyn.manifold.formula.formula import FLAT, SPHERE, Formula, Symbol
from recursive_dyn.manifold.motion import munthe_kaas as lie
from recursive_dyn.manifold.motion.prescribed import carried, moves
from recursive_dyn.manifold.motion.segments import Table, label, places
from recursive_dyn.manifold.motion.soundness import Sample, reaction_sign, refuse_singular, refuse_unsound
from recursive_dyn.manifold.motion.tangent import Tangent
from recursive_dyn.recursion.lagrangian import FactoredMatrix
from recursive_dyn.recursion.multipliers import ConstrainedSystem, constrained
from recursive_dyn.spatial.algebra import dot

if TYPE_CHECKING:
    from recursive_dyn.manifold.derivation.equations_of_motion import Equations

_SINGULAR = 1e-13  # pivots below this share of their diagonal entry are rounding: the matrix is singular


class Lowered:
    """Equations over the inputs q (nq,), v (nv,), forces and parameters of one graph.

    mass (n, n), force (n,): M and f; jacobian (m, n), bias (m,): C and gamma; violation (m,): the constraints' values;
    tangent: the unknowns y (n,). For ``soundness``: residuals (n,), what the rows say in the directions of y;
    off_tangent: what of each is not written as q x (...); sample: numbers for all inputs. moves: whether prescribed
    motions go on within a step.
    ModelError names the row or constraint that is not linear in accelerations or velocities, holds higher derivatives,
    or does not fit its variable, and the variable that has no inertia.
    """

    def __init__(self, equations: Equations) -> None:
        self.places = places(equations.configuration)
        self.nq, self.nv = self.places[-1].q.stop, self.places[-1].v.stop
        self._forms, self._rows = [r.form for r in equations.rows], [r.residual for r in equations.rows]
        self.constraints = list(equations.constraints)
        self.lagrangian = equations.lagrangian
        if [row.symbol for row in equations.rows] != [p.symbol for p in self.places]:
            raise ModelError("the equations need one row for each configuration variable, in the same order")
        self.multipliers = Table(equations.multipliers)
        self.parameters, self.forces = self._tables(equations)
        self.moves = moves(self.forces)
        self.graph = Graph()
        sizes = {"q": self.nq, "v": self.nv, "forces": self.forces.size, "parameters": self.parameters.size}
        self.inputs = {name: self.graph.inputs(name, size) for name, size in sizes.items()}
        self.q, self.v = self.inputs["q"], self.inputs["v"]
        self.tangent = Tangent(self.places, self.q)
        self._no_acceleration = array(np.zeros(self.tangent.size))
        self._unaccelerated = self._at(self._no_acceleration, array(np.zeros(self.multipliers.size)))
        self._assemble_rows()
        self._assemble_constraints()

    def _tables(self, equations: Equations) -> tuple[Table, Table]:
        """Tables of the constants and of the applied forces that the equations depend on."""
        constants: dict[Symbol, None] = {}
        applied = dict.fromkeys(s for s in equations.inputs if s not in equations.multipliers)
        for name, formula in self._formulas():
            for s in leaves(formula):
                if s.varied:
                    raise ModelError(f"{name} holds the variation {label(s)}: equations of motion have none")
                if s.constant:
                    constants[s] = None
                elif s not in self.multipliers.slices and not self._is_motion(name, s):
                    applied[s] = None
        return Table(constants), Table(applied)

    def _formulas(self) -> Iterator[tuple[str, Formula]]:
        for place, residual in zip(self.places, self._rows, strict=True):
            yield f"the row of '{place.symbol.base.name}'", residual
        for c in self.constraints:
            yield f"the constraint {c}", c
            yield f"the rate of the constraint {c}", dt(c)
        yield "the energy", energy(self.lagrangian, [p.symbol for p in self.places])

    def _is_motion(self, name: str, s: Symbol) -> bool:
        """Whether a symbol is a variable's position, velocity or acceleration."""
        for place in self.places:
            base = place.symbol.base
            rate = base.rate is not None and s.base == base.rate.base
            if s.base == base or rate:
                if s.order + rate > 2:
                    raise ModelError(f"{name} holds {label(s)}: equations of motion have second derivatives at most")
                return True
        return False

    def _at(self, y: np.ndarray, multipliers: np.ndarray, rate: np.ndarray | None = None) -> Evaluator:
        """Values of formulas at the input q and given y and multipliers; velocities are E rate, or the input v."""
        v = self.v if rate is None else self.tangent.embedding @ rate
        values = trajectory(
            [p.symbol for p in self.places],
            [p.position(self.q) for p in self.places],
            [p.velocity(v) for p in self.places],
            [p.velocity(self.tangent.embedding @ y) for p in self.places],
        )
        for p, unknowns in zip(self.places, self.tangent.places, strict=True):
            if p.space == SPHERE:  # omega x (omega x q) = -|omega|^2 q
                omega = v[p.v]
                values[Symbol(p.symbol.base, 2)] = self.tangent.turned(unknowns, y) - self.q[p.q] * dot(omega, omega)
                if rate is not None:
                    values[Symbol(p.symbol.base, 1)] = self.tangent.turned(unknowns, rate)
        tables = (self.parameters, self.inputs["parameters"]), (self.forces, self.inputs["forces"])
        for table, numbers in (*tables, (self.multipliers, multipliers)):
            values |= {s: table.value(s, numbers) for s in table.slices}
        return Evaluator(values)

    def _flat(self, evaluate: Evaluator, formulas: Sequence[Formula]) -> list[Scalar]:
        return [x for f in formulas for x in array(evaluate(f)).reshape(-1)]

    def _assemble_rows(self) -> None:
        count = self.tangent.size
        unknown = [*self.graph.inputs("y", count), *self.graph.inputs("multipliers", self.multipliers.size)]
        self.residuals, self.off_tangent = self._row_values(array(unknown[:count]), array(unknown[count:]))
        jacobian = self._jacobian(self.residuals, unknown)
        self._refuse_dependence(jacobian)
        resting, _ = self._row_values(self._no_acceleration, array(np.zeros(self.multipliers.size)))
        self.force = array([-x for x in resting])
        self.mass, reactions = jacobian[:, :count], jacobian[:, count:]
        self._reactions = reactions
        self.sample = Sample(self)
        self._refuse_massless()
        refuse_singular(self)

    def _row_values(self, y: np.ndarray, multipliers: np.ndarray) -> tuple[list[Scalar], list[np.ndarray]]:
        """(what the rows say in the directions of y, what of each is not written as q x (...))."""
        evaluate, values, off_tangent = self._at(y, multipliers), [], []
        for place, row, residual in zip(self.tangent.places, self._forms, self._rows, strict=True):
            if residual.shape != place.symbol.virtual.shape:
                raise ModelError(
                    f"the row of '{place.symbol.base.name}' has shape {residual.shape}, not its variable's"
                )
            own, rest = self.tangent.row(place, row, evaluate, y)
            values += list(own)
            off_tangent.append(rest)
        return values, off_tangent

    def _jacobian(self, outputs: Iterable[Scalar], inputs: Sequence[Expression]) -> np.ndarray:
        flat = list(outputs)
        columns = [directional_derivative(flat, {x: 1.0}) for x in inputs]
        return array(columns).reshape(len(inputs), len(flat)).T

    def _refuse_dependence(self, jacobian: np.ndarray) -> None:
        for place in self.tangent.places:
            inputs = {n.args[0][0] for n in reachable(jacobian[place.v].flat) if n.op == "input"}
            if inputs & {"y", "multipliers"}:
                raise ModelError(
                    f"the row of '{place.symbol.base.name}' is not linear in accelerations and multipliers: write"
                    " forces in the virtual work as functions of positions and velocities"
                )

    def _refuse_massless(self) -> None:
        refuse_unsound(self)
        for place in self.tangent.places:
            block = self.mass[place.v]
            dead = [not any(map(_present, row)) for row in block]
            if any(dead) if place.space == FLAT else all(dead):
                raise ModelError(
                    f"'{place.symbol.base.name}' has no inertia: give it a mass in the Lagrangian, or take it out of"
                    " the configuration"
                )

    def _assemble_constraints(self) -> None:
        self.violation = array(self._flat(self._unaccelerated, self.constraints))
        self.bias = array(self._flat(self._unaccelerated, [dt(c) for c in self.constraints]))
        rate = self.graph.inputs("y", self.tangent.size)
        virtual = self._at(self._no_acceleration, array(np.zeros(self.multipliers.size)), rate)
        self.jacobian = self._jacobian(self._flat(virtual, self.constraints), list(rate))
        start = 0
        for c in self.constraints:
            count = int(np.prod(c.shape, dtype=int))
            rows, start = self.jacobian[start : start + count], start + count
            if any(n.op == "input" and n.args[0][0] == "y" for n in reachable(rows.flat)):
                raise ModelError(f"the constraint {c} is not linear in velocities")
            if not any(map(_present, rows.flat)):
                raise ModelError(f"the constraint {c} holds no velocity: pass its time derivative, dt(...)")
        self.reaction_sign = reaction_sign(self, self._reactions)

    @cached_property
    def mass_matrix(self) -> np.ndarray:
        """M (nv, nv) of velocities: s q q^T is added for a unit vector, s half the trace of its block."""
        M = self.tangent.embedded(self.mass)
        for place, unknowns in zip(self.places, self.tangent.places, strict=True):
            if place.space == SPHERE:
                q, own = self.q[place.q], self.mass[unknowns.v, unknowns.v]
                M[place.v, place.v] = M[place.v, place.v] + np.outer(q, q) * (np.trace(own) * 0.5)
        return M

    @cached_property
    def right_hand_side(self) -> np.ndarray:
        """f (nv,) of velocities."""
        return self.tangent.embedding @ self.force

    @cached_property
    def _system(self) -> ConstrainedSystem:
        return constrained(FactoredMatrix(self.mass, _SINGULAR), self.jacobian.tolist())

    @cached_property
    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """(accelerations (nv,), multipliers (m,))."""
        system = self._system
        free = system.factors.reduce(list(self.force))
        reactions = system.multipliers([-(x + b) for x, b in zip(system.along(free), self.bias, strict=True)])
        signed = array([self.reaction_sign * x for x in reactions])
        return self.tangent.embedding @ array(system.moved(reactions, free)), signed

    @cached_property
    def admitted(self) -> np.ndarray:
        """Velocities (nv,) that meet the constraints, the nearest to v in kinetic energy."""
        impulses = self._system.multipliers([-c for c in self.violation])
        return array(self.v + self.tangent.embedding @ array(self._system.moved(impulses)))

    @cached_property
    def energy(self) -> Scalar:
        """Total energy of the state."""
        return self._unaccelerated(energy(self.lagrangian, [p.symbol for p in self.places]))

    def moved_to(self, outputs: Iterable[Scalar], q: np.ndarray, v: np.ndarray, clock: Scalar) -> np.ndarray:
        """Outputs with other scalars in place of the inputs q and v, prescribed motions carried on by a time."""
        moved = self.inputs | {"q": q, "v": v, "forces": self.carried(clock)}
        inputs = {(name, i): x for name, xs in moved.items() for i, x in enumerate(xs)}
        return array(substitute(list(outputs), inputs))

    def carried(self, clock: Scalar) -> np.ndarray:
        """The forces a time ``clock`` after they were given, see ``prescribed``."""
        return carried(self.forces, self.inputs["forces"], clock)

    def slope(self, u: np.ndarray, clock: Scalar) -> tuple[np.ndarray, np.ndarray]:
        """(u', v') of a step from q, displaced by u (nv,)."""
        moved = self.moved_to(self.motion[0], lie.displaced(self.places, self.q, u), self.v, clock)
        return lie.displacement_rate(self.places, u, self.v), moved

    def landing(self, u: np.ndarray, clock: Scalar) -> tuple[np.ndarray, np.ndarray]:
        """(v, q) at the end of a step from q, displaced by u; v is brought back onto the constraints of that time."""
        q, v = lie.restored(self.places, lie.displaced(self.places, self.q, u), self.v)
        return self.moved_to(self.admitted, q, v, clock) if self.constraints else v, q


def _present(value: Scalar) -> bool:
    return not (isinstance(value, float) and value == 0.0)
