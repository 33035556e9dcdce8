"""What steps of the implicit midpoint rule are weighed by: the work in their middle, and the energies at their ends.

Where M does not change on the way W = h v_m . F is all that a step gains in motion, to rounding, whatever the forces
are: what is left is what positions do to it, of third order in h.
"""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.graph.expression import Scalar, less, reciprocal
from recursive_dyn.integrators.explained_steps import ENERGIES, MEASURED, UNKNOWN
from recursive_dyn.integrators.watched_loop import RESOLVED
from recursive_dyn.model.independent import IndependentPart, independent, independent_count
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.chords.made_energy import unknown
from recursive_dyn.recursion.configuration import plain_positions
from recursive_dyn.recursion.context import METHOD_TWO, Context, Function, Outputs
from recursive_dyn.recursion.equations.mass_matrix import carried
from recursive_dyn.recursion.forces.element_forces import element_power
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.momenta import energy
from recursive_dyn.spatial.algebra import dot


def late(start: Tree, h: Scalar) -> dict[int, Scalar]:
    """(theta - 1 / 2) h by slot of what dampers act on."""
    damped = {s: joint.damping for s, joint in enumerate(start.model.coordinates) if joint.damping}
    inertia = carried(start) if damped else []
    found = dict[int, Scalar]()
    for s, damping in damped.items():
        z = h * damping * reciprocal(inertia[s])
        found[s] = h * 0.5 * z * reciprocal(z + 2.0)
    return found


def powers(c: Context, middle: Tree, a: Sequence[Scalar]) -> list[Scalar]:
    """Of each part of the model, that of tau and of elements without energy, and that of joint dampers, in the middle
    of a step with the acceleration a (nv,) there."""
    h, tau = c.input("dt")[0], c.input("tau")
    more, found = late(c.tree, h), list[Scalar]()
    for part in independent(c.model):
        slots = list(part.slots)
        power = dot(middle.v[slots], tau[slots]) + element_power(middle, part)
        damping: Scalar = 0.0
        for s in slots:
            if s in more:
                speed = c.tree.v[s] + a[s] * (h * 0.5 + more[s])
                damping = damping - c.model.coordinates[s].damping * middle.v[s] * speed
        found += [power, damping]
    return found


def _energies(c: Context) -> Outputs:
    """[T, potential and elastic energy, size of what a balance is made of, J in joints' springs], of each part of the
    model; what gravity gives from rest in a step is measured with T, what rounding makes of slow motion, and what
    springs hold that swing within a step. What motions lead they may strike, by which a step gains what it will."""
    tree, h, found = c.tree, c.input("dt")[0], list[Scalar]()
    for part in independent(c.model):
        height = energy.potential_energy(tree, part) + energy.elastic_energy(tree, part)
        beside = energy.falling_energy(tree, h, part) + unknown(tree, part)
        within, springs = _springs(c, part)
        size = energy.energy_size(tree, part) + (beside + within) * MEASURED
        if c.model.prescribed.intersection(part.slots):
            size = 2.0 * UNKNOWN
        found += [energy.kinetic_energy(tree, part), height, size, springs]
    return [("energies", found)]


def _springs(c: Context, part: IndependentPart) -> tuple[Scalar, Scalar]:
    """J in springs of a part's joints that swing by more than RESOLVED in a step, or may, where M_ii is not asked for,
    in turn with motion, which is little or much as it happens; and in all of them."""
    h, coordinates = c.input("dt")[0], c.model.coordinates
    within, total = 0.0, 0.0
    stiff = [s for s in part.slots if coordinates[s].stiffness]
    positions = plain_positions(c.tree) if stiff else []
    inertia = carried(c.tree) if stiff and c.method != METHOD_TWO else []
    for s in stiff:
        K, stretch = coordinates[s].stiffness, positions[s] - coordinates[s].rest
        held = K * stretch * stretch * 0.5
        resolved = less(h * h * K, inertia[s] * RESOLVED**2) if inertia else 0.0
        within, total = within + (held - held * resolved), total + held
    return within, total


WEIGHED = Function(
    "Of each tree: kinetic energy, that of gravity and springs, what a balance is made of, that of joints' springs.",
    ("q", "v", "tau", "dt", "v_middle"),
    lambda m: (ENERGIES * independent_count(m),),
    _energies,
    rows=tree_rows.four_a_tree,
)
