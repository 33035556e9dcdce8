"""A solve's velocities without what rows are not to answer: by which joints between bodies come apart within a step."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.problem import BodyFrames, ImpulseProblem
from recursive_dyn.contact.rows.responses import twists


@compiled
def without_straying(problem: ImpulseProblem) -> ImpulseProblem:
    """The same solve from velocities that joints allow; those of the step's start are less by as much."""
    if len(problem.astray) == 0:
        return problem
    v, start_v, bodies = problem.v.copy(), problem.start_v.copy(), problem.bodies
    for k in range(len(v)):
        v[k] -= problem.astray[k]
        start_v[k] -= problem.astray[k]
    own = BodyFrames(bodies.links, bodies.poses, bodies.start_twists.copy())
    _take(problem, own)
    return ImpulseProblem(
        problem.layout, problem.factors, v, start_v, problem.astray, problem.swing, problem.acted, problem.steady,
        problem.pull, problem.forces, problem.pushes, problem.sprung, own, problem.lone, problem.moving,
        problem.contacts, problem.free, problem.rows, problem.earlier, problem.options, problem.changes,
    )  # fmt: skip


@compiled
def _take(problem: ImpulseProblem, bodies: BodyFrames) -> None:
    """Take it from the twists of bodies, world axes at their origins."""
    layout, factors = problem.layout, problem.factors
    V = np.empty((len(layout.parent), 6))
    twists(layout, factors, problem.astray, problem.moving.links, V)
    for b in range(len(bodies.links)):
        link = bodies.links[b]
        if link >= 0:
            at, X, to, W = layout.refs + 3 * link, bodies.poses[b], bodies.start_twists[b], V[link]
            x, y, z = X[0, 3] - factors[at], X[1, 3] - factors[at + 1], X[2, 3] - factors[at + 2]
            for k in range(3):
                to[k] -= W[k]
            to[3] -= W[3] + W[1] * z - W[2] * y
            to[4] -= W[4] + W[2] * x - W[0] * z
            to[5] -= W[5] + W[0] * y - W[1] * x
