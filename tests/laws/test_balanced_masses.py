"""Masses handed along hinges change operations, not forces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transforms import random_pose
from trees import GRAVITY, assert_close, random_body

from recursive_dyn.codegen.reference import run
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import schedule
from recursive_dyn.recursion.equations.balanced_masses import balanced_moments
from recursive_dyn.recursion.equations.inverse_dynamics import motions, project, required_wrench, wrench_of
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import axial_moment, vee_difference
from scene import Scene, joints


def hinges(seed: int, count: int):
    """A tree of hinges about any axes, some parallel, some branching off, with one slide."""
    rng = np.random.default_rng(seed)
    scene = Scene(gravity=GRAVITY)
    nodes = [scene.world]
    for i in range(count):
        joint = joints.prismatic("y") if i == count // 2 else joints.revolute("xyz"[int(rng.integers(3))])
        at = random_pose(rng)
        if rng.random() < 0.3:
            at[:3, :3] = np.eye(3)
        parent = nodes[int(rng.integers(max(0, len(nodes) - 2), len(nodes)))]
        nodes.append(parent.attach(random_body(rng, f"b{i}"), joint, at=at))
    return scene.model()


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), count=st.integers(2, 8))
def test_generalized_forces_are_those_of_the_masses_as_they_were(seed, count):
    model, graph = hinges(seed, count), Graph()
    tree, a = Tree(model, graph), graph.inputs("a", count)
    moving = motions(tree, a)
    plain = project(tree, [required_wrench(k, m) for k, m in zip(tree.links, moving, strict=True)])
    balanced = project(tree, [wrench_of(own, m) for own, m in zip(balanced_moments(tree), moving, strict=True)])
    sizes = [("q", count), ("v", count), ("a", count)]
    both = [schedule("forces", sizes, [("tau", tau)]) for tau in (plain, balanced)]
    rng = np.random.default_rng(seed)
    inputs = {name: rng.normal(size=(6, count)) for name, _ in sizes}
    assert_close(run(both[1], inputs)["tau"], run(both[0], inputs)["tau"], 1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_no_mass_is_larger_than_twice_all(seed):
    tree = Tree(hinges(seed, 7), Graph())
    whole = sum(k.mass for k in tree.links)
    given = [m.mass for m in balanced_moments(tree)]
    assert all(abs(mass) <= 2.0 * whole + own.moments.mass for mass, own in zip(given, tree.links, strict=True))
    assert given != [k.moments.mass for k in tree.links]


def test_the_moment_of_second_moments_is_the_axial_part_of_a_product():
    rng = np.random.default_rng(1)
    W, P = rng.normal(size=(2, 3, 3))
    P = P + P.T
    np.testing.assert_allclose(axial_moment(W, P).astype(float), vee_difference(W @ P).astype(float), rtol=1e-13)
