"""Equations of motion as scalars of the expression graph: M y = f + C^T lambda with C y + gamma = 0, solved for y.

The unknowns y are the accelerations in the tangent spaces (see ``tangent``), two of a unit vector, so that M is regular
and omega' . q = 0. The rows r(y, lambda) are linear in them and in the multipliers: M = dr/dy and f = - r(0, 0) are
exact. M is factored as L^T D L, multipliers are eliminated with C M^-1 C^T (Lagrange-d'Alembert; Lee, Leok & McClamroch
2018, Global Formulations of Lagrangian and Hamiltonian Dynamics on Manifolds).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.integrators.munthe_kaas import displaced, displacement_rate
from recursive_dyn.manifold.formula.calculus import dt, leaves
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.quantities import Table, label
from recursive_dyn.manifold.motion.soundness import Sample, present, reaction_sign, refuse_unsound
from recursive_dyn.manifold.motion.variable import variables
from recursive_dyn.manifold.writing.equation import EquationSystem
from recursive_dyn.recursion.equations.lagrangian import FactoredMatrix
from recursive_dyn.recursion.multipliers import ConstrainedSystem, constrained
from recursive_dyn.spatial.algebra import dot, mirrored

_SINGULAR = 1e-13  # pivots below this share of their diagonal entry are rounding: the matrix is singular


Segments = Mapping[str, Iterable[Scalar]]


class Lowered:
    """Equations over the inputs q (nq,), v (nv,), forces and parameters of one graph.

    mass (n, n), force (n,): M and f; jacobian (m, n), bias (m,): C and gamma; violation (m,): the constraints' values;
    embedding E (nv, n): accelerations are E y. For ``soundness``: residuals (n,), what the rows say in the directions
    of y; off_tangent: what of each is not written as q x (...); sample: numbers for all inputs. moves: whether
    prescribed motions go on within a step.
    ModelError names the row or constraint that is not linear in accelerations or velocities, holds higher derivatives,
    or does not fit its variable, and the variable that has no inertia.
    """

    def __init__(self, equations: EquationSystem) -> None:
        self.variables = variables(equations.configuration)
        last = self.variables[-1]
        self.nq, self.nv, self.unknowns = last.q.stop, last.v.stop, last.y.stop
        self.equations, self.constraints = equations, equations.constraints
        if [row.symbol for row in equations.rows] != [p.symbol for p in self.variables]:
            raise ModelError("the equations need one row for each configuration variable, in the same order")
        self.multipliers = Table(equations.multipliers)
        self.parameters, self.forces = self._tables(equations)
        self.moves = self.forces.moves
        self.graph = Graph()
        sizes = {"q": self.nq, "v": self.nv, "forces": self.forces.size, "parameters": self.parameters.size}
        self.inputs = {name: self.graph.inputs(name, size) for name, size in sizes.items()}
        self.q, self.v = self.inputs["q"], self.inputs["v"]
        self.bases = [p.space.basis(self.q[p.q]) for p in self.variables]
        self.embedding = array(np.zeros((self.nv, self.unknowns)))
        for p, B in zip(self.variables, self.bases, strict=True):
            self.embedding[p.v, p.y] = B
        self._resting, self._unloaded = array(np.zeros(self.unknowns)), array(np.zeros(self.multipliers.size))
        self._unaccelerated = self._at(self._resting, self._unloaded)
        self._assemble_rows()
        self._assemble_constraints()

    def _tables(self, equations: EquationSystem) -> tuple[Table, Table]:
        """Tables of the constants and of the applied forces that the equations depend on."""
        highest = {s.base: s.order for q in equations.configuration for s in (q, q.acceleration)}
        constants: dict[Symbol, None] = {}
        applied = dict.fromkeys(s for s in equations.inputs if s not in equations.multipliers)
        for name, f in _named(equations):
            for s in leaves(f):
                if s.varied:
                    raise ModelError(f"{name} holds the variation {label(s)}: equations of motion have none")
                if s.order > highest.get(s.base, s.order):
                    raise ModelError(f"{name} holds {label(s)}: equations of motion have second derivatives at most")
                if s.constant:
                    constants[s] = None
                elif s not in self.multipliers.slices and s.base not in highest:
                    applied[s] = None
        return Table(constants), Table(applied)

    def _at(self, y: np.ndarray, multipliers: np.ndarray, rate: np.ndarray | None = None) -> Evaluation:
        """Values of formulas at the input q and given y and multipliers; velocities are E rate, or the input v."""
        v = self.v if rate is None else self.embedding @ rate
        values: dict[Symbol, Any] = {}
        for p, B in zip(self.variables, self.bases, strict=True):
            values |= p.symbols(self.q, v, y, B)
        values |= self.parameters.values(self.inputs["parameters"]) | self.forces.values(self.inputs["forces"])
        return Evaluation(values | self.multipliers.values(multipliers))

    def _assemble_rows(self) -> None:
        count = self.unknowns
        unknown = [*self.graph.inputs("y", count), *self.graph.inputs("multipliers", self.multipliers.size)]
        self.residuals, self.off_tangent = self._row_values(array(unknown[:count]), array(unknown[count:]))
        jacobian = _jacobian(self.residuals, unknown)
        for p in self.variables:
            if input_names(jacobian[p.y].flat) & {"y", "multipliers"}:
                raise ModelError(
                    f"the row of '{p.name}' is not linear in accelerations and multipliers: write forces in the virtual"
                    " work as functions of positions and velocities"
                )
        self.force = -array(self._row_values(self._resting, self._unloaded)[0])
        self.mass, self._reactions = jacobian[:, :count], jacobian[:, count:]
        tables = {"forces": self.forces, "parameters": self.parameters, "multipliers": self.multipliers}
        self.sample = Sample(self.variables, {"v": self.nv, "y": self.unknowns}, tables)
        refuse_unsound(self.sample, self.variables, self.mass, self.residuals, self.off_tangent)

    def _row_values(self, y: np.ndarray, multipliers: np.ndarray) -> tuple[list[Scalar], list[np.ndarray]]:
        """(what the rows say in the directions of y, what of each is not written as q x (...))."""
        evaluate, values, off_tangent = self._at(y, multipliers), [], []
        for p, B, row in zip(self.variables, self.bases, self.equations.rows, strict=True):
            if row.residual.shape != p.symbol.virtual.shape:
                raise ModelError(f"the row of '{p.name}' has shape {row.residual.shape}, not its variable's")
            own, rest = p.row(row.form, evaluate, y, B)
            values += list(own)
            off_tangent.append(rest)
        return values, off_tangent

    def _assemble_constraints(self) -> None:
        self.violation = _flat(self._unaccelerated, self.constraints)
        self.bias = _flat(self._unaccelerated, [dt(c) for c in self.constraints])
        rate = self.graph.inputs("y", self.unknowns)
        virtual = self._at(self._resting, self._unloaded, rate)
        self.jacobian = _jacobian(_flat(virtual, self.constraints), list(rate))
        names = self.constraint_names
        for c in self.constraints:
            rows = self.jacobian[[i for i, name in enumerate(names) if name == str(c)]]
            if "y" in input_names(rows.flat):
                raise ModelError(f"the constraint {c} is not linear in velocities")
            if not any(map(present, rows.flat)):
                raise ModelError(f"the constraint {c} holds no velocity: pass its time derivative, dt(...)")
        self.reaction_sign = reaction_sign(self.sample, self._reactions, self.jacobian)

    @property
    def constraint_names(self) -> list[str]:
        """The constraint of each multiplier, as text."""
        return [str(c) for c in self.constraints for _ in range(prod(c.shape))]

    @cached_property
    def mass_matrix(self) -> np.ndarray:
        """M (nv, nv) of velocities: s n n^T is added for what moves nothing, s the mean of its block's diagonal."""
        M = mirrored((self.embedding @ mirrored(self.mass.T) @ self.embedding.T).T)
        for p in self.variables:
            for n in p.space.normals(self.q[p.q]):
                share = np.trace(self.mass[p.y, p.y]) * (1.0 / p.space.dimension)
                M[p.v, p.v] = M[p.v, p.v] + np.outer(n, n) * share
        return M

    @cached_property
    def right_hand_side(self) -> np.ndarray:
        """f (nv,) of velocities."""
        return self.embedding @ self.force

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
        return self.embedding @ array(system.moved(reactions, free)), signed

    @cached_property
    def admitted(self) -> np.ndarray:
        """Velocities (nv,) that meet the constraints, the nearest to v in kinetic energy."""
        impulses = self._system.multipliers([-c for c in self.violation])
        return array(self.v + self.embedding @ array(self._system.moved(impulses)))

    @cached_property
    def energy(self) -> Scalar:
        """Total energy of the state."""
        return self._unaccelerated(self.equations.energy)

    @cached_property
    def _clock(self) -> np.ndarray:
        """The time since motions were prescribed, if any were."""
        return self.graph.inputs("clock", int(self.moves))

    @cached_property
    def carried(self) -> np.ndarray:
        """The forces at the time of the clock: prescribed motions go on."""
        return self.forces.carried(self.inputs["forces"], self._clock[0]) if self.moves else self.inputs["forces"]

    @property
    def slope(self) -> Segments:
        """Rates of all that changes within a step from q, displaced by u (nv,)."""
        u = self.graph.inputs("u", self.nv)
        rates = np.concatenate([displacement_rate(p.space, u[p.v], self.v[p.v]) for p in self.variables])
        v = self._moved_to(self.motion[0], self._displaced(u), self.v)
        return {"u": rates, "v": v, "clock": [1.0] * self.moves}

    @property
    def landing(self) -> Segments:
        """The state at the end of a step from q, displaced by u; v is brought back onto the constraints of that time.

        Rid of rounding: unit vectors and quaternions of length 1, omega at right angles to its unit vector.
        """
        q, v = self._displaced(self.graph.inputs("u", self.nv)), self.v.copy()
        for p in self.variables:
            q[p.q] = p.space.restored(q[p.q])
            for n in p.space.normals(q[p.q]):
                v[p.v] = v[p.v] - n * dot(n, v[p.v])
        if self.constraints:
            v = self._moved_to(self.admitted, q, v)
        return {"u": np.zeros(self.nv), "v": v, "clock": self._clock, "q": q}

    def _displaced(self, u: np.ndarray) -> np.ndarray:
        return np.concatenate([displaced(p.space, self.q[p.q], u[p.v]) for p in self.variables])

    def _moved_to(self, outputs: Iterable[Scalar], q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Outputs with other scalars in place of the inputs q and v, at the time of the clock."""
        moved = self.inputs | {"q": q, "v": v, "forces": self.carried}
        inputs = {(name, i): x for name, xs in moved.items() for i, x in enumerate(xs)}
        return array(substitute(list(outputs), inputs))


def _named(equations: EquationSystem) -> Iterator[tuple[str, Formula]]:
    """All that is lowered, with what it is called."""
    yield from ((f"the row of '{row.symbol}'", row.residual) for row in equations.rows)
    for c in equations.constraints:
        yield f"the constraint {c}", c
        yield f"the rate of the constraint {c}", dt(c)
    yield "the energy", equations.energy


def _flat(evaluate: Evaluation, formulas: Iterable[Formula]) -> np.ndarray:
    return array([x for f in formulas for x in array(evaluate(f)).reshape(-1)])


def _jacobian(outputs: Iterable[Scalar], inputs: Sequence[Expression]) -> np.ndarray:
    flat = list(outputs)
    columns = [directional_derivative(flat, {x: 1.0}) for x in inputs]
    return array(columns).reshape(len(inputs), len(flat)).T


def input_names(outputs: Iterable[Scalar]) -> set[str]:
    """Names of the input segments that outputs depend on."""
    return {n.args[0][0] for n in reachable(list(outputs)) if n.op == "input"}
