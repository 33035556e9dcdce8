"""What every space must keep: exp and log undo each other, points stay points, rates are derivatives of exp."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.spatial.algebra import skew
from recursive_dyn.spatial.spaces import Flat, RigidMotion, Rotation, UnitSphere

SPACES = [Flat(0), Flat(3), UnitSphere(), Rotation(), RigidMotion()]
each = pytest.mark.parametrize("space", SPACES, ids=str)
seeds = st.integers(0, 2**32 - 1)
# on the sphere the logarithm is conditioned like 1 / sin(length): 20 at most here
lengths = st.one_of(st.floats(0.0, 3.0), st.sampled_from([0.0, 1e-160, 1e-12, 1e-8, 3.0]))


def tangent(space, point, rng, length=1.0):
    """A random tangent, its angular part of a length."""
    v = rng.normal(size=space.tangent_size)
    if isinstance(space, UnitSphere):
        v -= point * (point @ v)
    return v * length / max(np.linalg.norm(v[:3]), 1e-300) if v.size else v


@each
class TestLaws:
    def test_sizes(self, space):
        assert len(space.neutral) == len(space.random(np.random.default_rng(0))) == space.size
        assert len(space.labels([f"v{i}" for i in range(space.tangent_size)])) == space.size
        assert space.dimension <= space.tangent_size <= space.size
        assert space.flat == isinstance(space, Flat)

    def test_basis_and_normals_make_up_all_tangents(self, space):
        """Together orthonormal; a basis tangent moves the point, a normal does not."""
        for seed in range(5):
            point = space.random(np.random.default_rng(seed))
            basis, normals = space.basis(point).astype(float), space.normals(point)
            assert basis.shape == (space.tangent_size, space.dimension)
            full = np.column_stack([basis, *normals])
            assert full.T @ full == pytest.approx(np.eye(space.tangent_size), abs=4e-16)
            rates = [space.rate(point, b) for b in basis.T]
            assert np.linalg.matrix_rank(np.reshape(rates, (space.dimension, space.size))) == space.dimension
            assert not any(np.abs(space.rate(point, n)).max() > 1e-16 for n in normals)

    @given(seeds, lengths)
    def test_log_undoes_exp(self, space, seed, length):
        rng = np.random.default_rng(seed)
        point = space.random(rng)
        v = tangent(space, point, rng, length)
        assert space.log(point, space.exp(point, v)) == pytest.approx(v, abs=1e-13, rel=1e-13)

    @given(seeds)
    def test_exp_undoes_log(self, space, seed):
        rng = np.random.default_rng(seed)
        a, b = space.random(rng), space.random(rng)
        reached = space.exp(a, space.log(a, b))
        sign = np.sign(reached[-1] * b[-1]) if isinstance(space, Rotation) else 1.0
        if isinstance(space, RigidMotion):
            b[3:] *= np.sign(reached[3:] @ b[3:])
        assert reached == pytest.approx(b * sign, abs=1e-12)

    @given(seeds)
    def test_points_stay_points(self, space, seed):
        rng = np.random.default_rng(seed)
        point = space.random(rng)
        moved = space.exp(point, tangent(space, point, rng, 2.0))
        for first, end in space.units:
            assert np.linalg.norm(moved[first:end]) == pytest.approx(1.0, abs=1e-15)
        assert space.restored(moved * (1.0 + 1e-9 * bool(space.units))) == pytest.approx(moved, abs=2e-8)

    @given(seeds, lengths)
    def test_log_rate_is_the_slope_of_log(self, space, seed, length):
        """Also where the two points are one; by central differences of fourth order."""
        rng = np.random.default_rng(seed)
        point = space.random(rng)
        length = min(length, 2.0) if isinstance(space, UnitSphere) else length
        if isinstance(space, UnitSphere) and 0.0 < length < 1e-3:
            length = 1e-3  # as log is written there, its slope loses digits to 1 / length
        other = space.exp(point, tangent(space, point, rng, length))
        moved = tangent(space, point, rng), tangent(space, other, rng)

        def log(t):
            return np.array(space.log(space.exp(point, moved[0] * t), space.exp(other, moved[1] * t)), dtype=float)

        h = 1e-3
        slope = (8 * (log(h) - log(-h)) - (log(2 * h) - log(-2 * h))) / (12 * h)
        found = np.array(space.log_rate(point, other, *moved), dtype=float)
        assert found == pytest.approx(slope, abs=1e-8 * max(1.0, np.abs(slope).max(initial=0.0)))

    def test_rate_is_the_slope_of_exp(self, space):
        rng, h = np.random.default_rng(4), 1e-6
        point = space.random(rng)
        v = tangent(space, point, rng)
        slope = (space.exp(point, h * v) - space.exp(point, -h * v)) / (2.0 * h)
        assert space.rate(point, v) == pytest.approx(slope, abs=1e-9)

    def test_constant_tangents_add_up(self, space):
        rng = np.random.default_rng(5)
        point = space.random(rng)
        v = tangent(space, point, rng, 0.7)
        halfway = space.exp(point, 0.5 * v)
        assert space.exp(halfway, 0.5 * v) == pytest.approx(space.exp(point, v), abs=1e-14)

    def test_graphs_give_the_same_numbers_and_slopes(self, space):
        rng, graph = np.random.default_rng(6), Graph()
        a, b = space.random(rng), space.random(rng)
        v, w = tangent(space, a, rng), tangent(space, a, rng)
        A, B, V = graph.inputs("a", space.size), graph.inputs("b", space.size), graph.inputs("v", space.tangent_size)
        inputs = {(n, i): x for n, values in zip("abv", (a, b, v), strict=True) for i, x in enumerate(values)}
        for made, expected in ((space.exp(A, V), space.exp(a, v)), (space.log(A, B), space.log(a, b))):
            assert np.array(evaluate(list(made), inputs)) == pytest.approx(expected, abs=1e-13)
        slope = evaluate(directional_derivative(list(space.exp(A, V)), dict(zip(V, w, strict=True))), inputs)
        numeric = (space.exp(a, v + 1e-6 * w) - space.exp(a, v - 1e-6 * w)) / 2e-6
        assert np.array(slope, dtype=float) == pytest.approx(numeric, abs=1e-8)

    def test_many_at_once(self, space):
        rng = np.random.default_rng(7)
        points = np.array([space.random(rng) for _ in range(4)])
        others = np.array([space.random(rng) for _ in range(4)])
        ways = space.log(points, others)
        for k in range(4):
            assert ways[k] == pytest.approx(space.log(points[k], others[k]), abs=1e-14)
            assert space.exp(points, ways)[k] == pytest.approx(space.exp(points[k], ways[k]), abs=1e-13)
            assert space.rate(points, ways)[k] == pytest.approx(space.rate(points[k], ways[k]), abs=1e-13)

    def test_a_space_is_a_value(self, space):
        assert pickle.loads(pickle.dumps(space)) == copy.deepcopy(space) == space
        assert [other for other in SPACES if other == space] == [space]


def test_opposite_points_of_the_sphere_are_half_a_turn_apart():
    for point in np.vstack([np.eye(3), -np.eye(3), np.ones(3) / np.sqrt(3.0)]):
        omega = UnitSphere().log(point, -point)
        assert np.linalg.norm(omega) == pytest.approx(np.pi) and omega @ point == pytest.approx(0.0, abs=1e-15)
        assert UnitSphere().exp(point, omega) == pytest.approx(-point, abs=1e-15)


def test_a_constant_twist_is_a_screw():
    rng, space = np.random.default_rng(9), RigidMotion()
    point, twist = space.random(rng), rng.normal(size=6)
    algebra = np.zeros((4, 4))
    algebra[:3, :3], algebra[:3, 3] = skew(twist[:3]).astype(float), twist[3:]
    expected = space.pose(point).astype(float) @ expm(algebra)
    assert space.pose(space.exp(point, twist)).astype(float) == pytest.approx(expected, abs=1e-13)
