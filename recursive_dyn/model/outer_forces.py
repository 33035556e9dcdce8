"""Trees that the force elements of a scene act on from outside: their momentum is not theirs alone.

What acts between links of one tree, as a muscle does, leaves its momentum as it is; what ties it to another tree, to
the world or to a place in it does not. That is found at random poses: forces of the first kind, and their moments about
any point, add up to nothing over the bodies of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Scalar
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.model.constraint import POSITION, RATE, ROTATION, SPIN, VELOCITY, Constraint
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.spatial.rotations import rotation_exp

_NOTHING = 1e-9  # of the sum of all magnitudes: rounding
_CHOICES = "select", "min", "max"  # the last two arguments are chosen from
_POSES = 2  # at which forces are looked at: none that is not of the first kind seems so at both


def acted_on(model: Model, roots: Sequence[int]) -> set[int]:
    """Of the trees that begin with these links, ``roots`` (nl,) of all links, those that elements act on from outside.

    Measures that have no value at random poses, or do nothing at all there, count as outer ones.
    """
    rng, found = np.random.default_rng(17), set[int]()
    for measure in _measures(model):
        for _ in range(_POSES):
            found |= _pushed(model, roots, measure, rng)
    return found


def _measures(model: Model) -> Iterator[Constraint]:
    """What forces act along."""
    for element in model.forces:
        yield from (term.measure for term in element.terms)
        if element.energy is not None:
            yield element.energy


def _pushed(model: Model, roots: Sequence[int], measure: Constraint, rng: np.random.Generator) -> set[int]:
    """The trees whose momentum a unit force along a measure changes, at one random pose of all bodies."""
    places = rng.normal(size=(len(model.bodies), 3))
    forces = _forces(measure, places, [rotation_exp(turn) for turn in rng.normal(size=(len(model.bodies), 3))], rng)
    slots = {key[1][1] for key in forces if key[0] == RATE}
    pushed = {first for first in set(roots) if not slots.isdisjoint(model.links[first].slots)}
    sums, magnitudes = dict[int, np.ndarray](), dict[int, float]()
    for body in {key[1] for key in forces if key[0] in (VELOCITY, SPIN)}:
        if (link := model.bodies[body].link) == WORLD:
            continue
        force, moment = (np.array([forces.get((kind, body, i), 0.0) for i in range(3)]) for kind in (VELOCITY, SPIN))
        wrench = np.concatenate((force, moment + np.cross(places[body], force)))
        tree = roots[link]
        sums[tree] = sums.get(tree, 0.0) + wrench
        magnitudes[tree] = magnitudes.get(tree, 0.0) + float(np.abs(wrench).sum())
    return pushed | {tree for tree in sums if not np.abs(sums[tree]).max() < _NOTHING * magnitudes[tree]}


def _forces(
    measure: Constraint, places: np.ndarray, turns: Sequence[np.ndarray], rng: np.random.Generator
) -> dict[Any, float]:
    """What a unit force along a measure does to velocities and rates, by their inputs, at poses of the bodies.

    What else it depends on is random.
    """
    gradient, inputs = measure.rows.gradient, dict[Any, float]()
    for name in (node.args[0] for node in reachable(gradient.values()) if node.op == "input"):
        kind, *where = name
        if kind in (POSITION, ROTATION):
            body, *component = where
            inputs[name] = float((places if kind == POSITION else turns)[body][tuple(component)])
        else:
            inputs[name] = rng.uniform(0.3, 0.9)
    return dict(zip(gradient, _both_ways(list(gradient.values()), inputs, rng), strict=True))


def _both_ways(outputs: Sequence[Scalar], inputs: Mapping[Any, float], rng: np.random.Generator) -> list[float]:
    """Values of the outputs, where of two things that are chosen from there is something of each; of one condition
    always the same."""
    value, shares = dict[int, float](), dict[Any, float]()
    with np.errstate(all="ignore"):
        for node in reachable(outputs):
            args = [value[a.index] if type(a) is Expression else a for a in node.args]
            if node.op in _CHOICES:
                share = shares.setdefault(node.args[0] if node.op == "select" else node, rng.uniform(0.3, 0.7))
                value[node.index] = share * args[-2] + (1.0 - share) * args[-1]
            else:
                value[node.index] = inputs[args[0]] if node.op == "input" else float(FUNCTIONS[node.op](*args))
    return [value[o.index] if type(o) is Expression else float(o) for o in outputs]
