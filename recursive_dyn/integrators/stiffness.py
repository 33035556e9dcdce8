"""What is too stiff for a step of the linearly implicit methods: which springs and dampers answer implicitly, and what
takes energy of a part of the model."""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.graph.expression import Scalar, array, combine, less, maximum, reciprocal, select, sqrt
from recursive_dyn.integrators.energy_watch import LITTLE, SPRING
from recursive_dyn.integrators.watched_loop import RESOLVED, STIFF, SWINGING
from recursive_dyn.model.independent import IndependentPart
from recursive_dyn.model.model import Model
from recursive_dyn.recursion import spring_answers, turn_frequencies
from recursive_dyn.recursion.context import METHOD_TWO, Context
from recursive_dyn.recursion.equations.lagrangian import nonzero
from recursive_dyn.recursion.equations.mass_matrix import carried
from recursive_dyn.recursion.forces.element_slopes import element_slopes, slope_counts
from recursive_dyn.recursion.multipliers import AnsweringRow, YieldingRow
from recursive_dyn.spatial.algebra import dot

SLOW = 200.0  # times the energy that gravity gives in a step: 2.3 m/s at 1/60 s


def holding(c: Context) -> Scalar:
    """1 by ``held_rk4``, 0 by the other."""
    return spring_answers.holding(c.input("dt")[0], c.input("ahead")[0])


def is_of(row: YieldingRow, part: IndependentPart) -> bool:
    """Whether a row is of an element of this part."""
    return any(nonzero(row.r[s]) for s in part.slots)


def turning_springs(c: Context) -> dict[int, Scalar]:
    """By slot, whether balls' springs answer implicitly, 1 or 0: by ``held_rk4`` all, by the other what may swing too
    fast for the step, whatever of it moves how."""
    whole, held, found = c.input("whole")[0], holding(c), dict[int, Scalar]()
    for s, square in turn_frequencies.highest(c.model, c.tree.scalars).items():
        found[s] = 1.0 if square is None else select(less(SWINGING**2, whole * whole * square), 1.0, held)
    return found


def lossy_springs(c: Context) -> dict[int, Scalar]:
    """By slot, whether joints' springs take energy, 1 or 0: by ``held_rk4`` all, by the other what is implicit and what
    the step does not resolve, as M_ii tells."""
    own = {s: joint.elasticity for s, joint in enumerate(c.model.coordinates) if joint.elasticity}
    if not own:
        return {}
    whole, held, found = c.input("whole")[0], holding(c), dict[int, Scalar]()
    turning, inertia = turning_springs(c), [] if c.method == METHOD_TWO else carried(c.tree)
    for s, K in own.items():
        found[s] = 1.0  # where M_ii is not asked for
        if inertia:
            found[s] = select(less(inertia[s] * RESOLVED**2, whole * whole * K), 1.0, held)
        found[s] = found[s] * turning.get(s, 1.0)
    return found


def yielding_rows(c: Context) -> list[YieldingRow]:
    """Force elements, as far as they answer implicitly: by ``held_rk4`` all, else what is too stiff for the step."""
    if c.method == METHOD_TWO:
        return []
    h, whole = c.input("dt")[0], c.input("whole")[0]
    before, way, held = c.input("a_before"), c.input("v_before"), holding(c)
    found, stiff = [], slope_counts(c.model)[0]
    for i, r in enumerate(map(array, element_slopes(c.tree))):
        if i < stiff:
            late, least = dot(r, (c.tree.v + before) * h), STIFF**2 * reciprocal(whole * whole)
            found.append(YieldingRow(list(r), dot(r, way), late, h, least * (1.0 - held), whole, held))
        else:
            least = STIFF * reciprocal(whole) * (1.0 - held)
            found.append(YieldingRow(list(r), dot(r, before), 0.0, sqrt(h), least, 0.0, held))
    return found


def taking(
    c: Context, part: IndependentPart, springs: dict[int, Scalar], answers: Sequence[tuple[YieldingRow, Scalar]]
) -> Scalar:  # fmt: skip
    """What takes energy of a part: 0 if nothing does, or -1 where springs carry some; 1 if more than springs of its own
    do, or all is held; else SPRING and the place, among slots, then elements of the part, of one that is too stiff.

    springs: by slot, whether it is; answers: of yielding rows, which answer.
    """
    stiff, model, held = slope_counts(c.model)[0], c.model, holding(c)
    own = [(k, row, here) for k, (row, here) in enumerate(answers) if is_of(row, part)]
    springy = own or any(s in springs for s in part.slots)
    more: Scalar = held if springy or any(model.coordinates[s].damping for s in part.slots) else 0.0
    which: Scalar = 0.0
    for place, s in enumerate(part.slots):
        which = maximum(which, springs.get(s, 0.0) * (SPRING + place))
    owners = [k for k, e in enumerate(model.forces) for _ in range(e.slopes)]
    for k, _, here in own:
        if k < stiff:
            which = maximum(which, here * (SPRING + len(part.slots) + part.elements.index(owners[k])))
        else:
            more = more + here
    if nonzero(which):
        which = select(less(0.0, _damps(c, part) * which), 1.0, which)
    nothing = -1.0 if _carries(model, part) else 0.0
    return select(less(0.0, more), 1.0, select(less(0.0, which), which, nothing))


def lifting(
    c: Context, part: IndependentPart, rows: Sequence[tuple[YieldingRow, AnsweringRow]], kinetic: Scalar, fall: Scalar
) -> Scalar:  # fmt: skip
    """J that springs of a part may give in a step of ``held_rk4``: (reach - 1 / 2) K (h r . v)^2 / 3, and no more than
    its kinetic energy, or ``fall``, which gravity gives in a step; none where it has more than SLOW times that: what is
    so fast they would throw again and again."""
    v, held, whole, found = c.tree.v, holding(c), c.input("whole")[0], list[Scalar]()
    for s, of in spring_answers.joint_answers(c.tree, whole, held, known=c.method != METHOD_TWO).items():
        if s in part.slots:
            found.append((of.reach - 0.5) * v[s] * v[s] * c.model.coordinates[s].elasticity)
    for row, answer in rows:
        if nonzero(row.whole) and is_of(row, part):
            rate = dot(array(row.r), v)
            found.append((answer.reach - 0.5) * rate * rate)
    if not found:
        return 0.0
    given = sum(found, 0.0) * held * whole * whole * (1.0 / 3.0)
    most = maximum(kinetic, fall)
    return select(less(fall * SLOW, kinetic), 0.0, select(less(given, most), given, most))


def _damps(c: Context, part: IndependentPart) -> Scalar:
    """Above 0 if joint dampers of a part take more than LITTLE of a coordinate's speed in a step."""
    whole, found = combine("abs", [c.input("whole")[0]]), list[Scalar]()
    if damped := [s for s in part.slots if c.model.coordinates[s].damping]:
        inertia = [0.0] * c.model.nv if c.method == METHOD_TWO else carried(c.tree)
        found = [select(less(inertia[s] * LITTLE, whole * c.model.coordinates[s].damping), 1.0, 0.0) for s in damped]
    return sum(found, 0.0)


def _carries(model: Model, part: IndependentPart) -> bool:
    """Whether springs carry energy of a part, and nothing has dampers."""
    joints, elements = [model.coordinates[s] for s in part.slots], [model.forces[k] for k in part.elements]
    if any(joint.damping for joint in joints) or any(element.terms for element in elements):
        return False
    elastic = any(joint.stiffness or joint.torsion for joint in joints)
    return elastic or any(element.energy is not None for element in elements)
