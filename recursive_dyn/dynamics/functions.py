"""Every compiled function of a model: its inputs, the shape of its outputs and the recursion that builds it.

One list serves the interpreter, LLVM, C and the printed equations.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.registry import BY_FUNCTION
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import conditioning as charts
from recursive_dyn.recursion import configuration, energy, impulse, kinematics, passive
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.mass_matrix import mass_matrix


def columns(model: Model) -> list[tuple[int, int]]:
    """(link, velocity slot) of every column that the function ``screws`` puts out."""
    return [(i, slot) for i, link in enumerate(model.links) for slot in link.slots]


def _nv(model: Model) -> tuple[int, ...]:
    return (model.nv,)


def _rows(model: Model) -> tuple[int, ...]:
    return (len(model.constraints),)


def _wrenches(c: Context) -> np.ndarray:
    return c.input("wrenches").reshape(len(c.model.bodies), 6)


def _mass_matrix(c: Context) -> Outputs:
    return [("M", list(mass_matrix(c.tree).flat))]


def _forward_dynamics(c: Context) -> Outputs:
    return [("a", c.accelerations(c.tree, list(c.input("tau"))))]


def neutral(model: Model) -> np.ndarray:
    """The configuration (nq,) of zeros and unit quaternions, moved into the limits and onto the constraints."""
    if model.assembled is not None:
        return np.array(model.assembled)
    q = np.zeros(model.nq)
    for _, factor, place, _ in model.owners:
        q[place : place + factor.nq] = factor.space.neutral
    for place, slot in model.plain_slots:
        low, high = model.coordinates[slot].limits
        q[place] = min(max(0.0, low), high)
    return q


FUNCTIONS: dict[str, Function] = {
    "forward_dynamics": Function(("q", "v", "tau"), _nv, _forward_dynamics),
    "inverse_dynamics": Function(("q", "v", "a"), _nv, lambda c: [("tau", inverse_dynamics(c.tree, c.input("a")))]),
    "mass_matrix": Function(("q",), lambda m: (m.nv, m.nv), _mass_matrix),
    "bias": Function(("q", "v"), _nv, lambda c: [("tau", inverse_dynamics(c.tree, None))]),
    "gravity": Function(("q",), _nv, lambda c: [("tau", inverse_dynamics(c.still(), None))]),
    "passive_forces": Function(("q", "v"), _nv, lambda c: [("tau", passive.passive_forces(c.tree))]),
    "poses": Function(("q",), lambda m: (len(m.bodies), 4, 4), lambda c: [("X", kinematics.poses(c.tree))]),
    "velocities": Function(("q", "v"), lambda m: (len(m.bodies), 6), lambda c: [("V", kinematics.velocities(c.tree))]),
    "screws": Function(("q",), lambda m: (len(columns(m)), 6), lambda c: [("S", kinematics.screws(c.tree))]),
    "kinetic_energy": Function(("q", "v"), lambda m: (), lambda c: [("T", [energy.kinetic_energy(c.tree)])]),
    "potential_energy": Function(("q",), lambda m: (), lambda c: [("U", [energy.potential_energy(c.tree)])]),
    "elastic_energy": Function(("q",), lambda m: (), lambda c: [("U", [energy.elastic_energy(c.tree)])]),
    "momentum": Function(("q", "v"), lambda m: (6,), lambda c: [("p", energy.momentum(c.tree))]),
    "center_of_mass": Function(("q",), lambda m: (3,), lambda c: [("c", energy.center_of_mass(c.tree))]),
    "integrate": Function(
        ("q", "v", "dt"), lambda m: (m.nq,),
        lambda c: [("q", configuration.integrate(c.tree, c.tree.v, c.input("dt")[0]))],
    ),
    "difference": Function(("q", "q_end"), _nv, lambda c: [("v", configuration.difference(c.tree, c.input("q_end")))]),
    "external_forces": Function(
        ("q", "wrenches"), _nv, lambda c: [("tau", energy.forces_from_wrenches(c.tree, _wrenches(c), at_center=False))]
    ),
    "generalized_forces": Function(
        ("q", "wrenches"), _nv, lambda c: [("tau", energy.forces_from_wrenches(c.tree, _wrenches(c), at_center=True))]
    ),
    "cartesian_forces": Function(
        ("q", "tau"), lambda m: (len(m.bodies), 6),
        lambda c: [("W", list(energy.wrenches_from_forces(c.tree, c.input("tau")).flat))],
    ),
    "constraint_positions": Function(("q",), _rows, lambda c: [("phi", c.rows.phi)]),
    "constraint_velocities": Function(("q", "v"), _rows, lambda c: [("psi", c.rows.psi)]),
    "constraint_jacobian": Function(
        ("q",), lambda m: (len(m.constraints), m.nv), lambda c: [("C", [x for row in c.rows.C for x in row])]
    ),
    "multipliers": Function(("q", "v", "tau"), _rows, lambda c: [("lambda", c.multipliers())]),
    "project": Function(("q", "v"), lambda m: (m.nq + m.nv + 2,), lambda c: c.projected()),
    "chart_quality": Function(
        ("q",), lambda m: (2 * len(m.charted),), lambda c: [("measures", charts.measures(c.tree))]
    ),
    "impulse_factors": Function(
        ("q", "dt"), lambda m: (impulse.factors_size(m),),
        lambda c: [("factors", impulse.factors(c.tree, c.input("dt")[0]))],
    ),
    "floating_momenta": Function(
        ("q", "v"), lambda m: (impulse.FLOATING * len(impulse.floating(m)),),
        lambda c: [("momenta", impulse.floating_momenta(c.tree))],
    ),
    **{name: rule.graph for name, rule in BY_FUNCTION.items()},
}  # fmt: skip
SOLVING = frozenset(("forward_dynamics", "multipliers", "project", *BY_FUNCTION))
