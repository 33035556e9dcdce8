"""Rotations against SciPy and their own laws, near no turn and near half a turn: numbers, many, graphs, loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Reference

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, array
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.spatial import rotations as rot
from recursive_dyn.spatial.algebra import skew

ROUNDING = 4e-15  # some ten roundings of numbers of the size of pi
unit = st.floats(-1.0, 1.0)
angles = st.one_of(
    st.floats(0.0, np.pi), st.sampled_from([0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, np.pi - 1e-9, np.pi - 1e-13])
)


@st.composite
def turns(draw):
    """Rotation vectors (3,) of any direction, often of nearly no or nearly half a turn."""
    axis = np.array([draw(unit), draw(unit), draw(unit)])
    if np.linalg.norm(axis) < 0.1:
        axis = np.array([0.0, 0.0, 1.0])
    return axis / np.linalg.norm(axis) * draw(angles)


class TestAgainstSciPy:
    @given(turns())
    def test_exp(self, omega):
        assert rot.quaternion_exp(omega) == pytest.approx(Reference.from_rotvec(omega).as_quat(), abs=ROUNDING)
        assert rot.rotation_exp(omega) == pytest.approx(expm(skew(omega).astype(float)), abs=1e-13)

    @given(turns(), turns())
    def test_products_are_rotations_one_after_the_other(self, a, b):
        product = rot.quaternion_product(rot.quaternion_exp(a), rot.quaternion_exp(b))
        expected = (Reference.from_rotvec(a) * Reference.from_rotvec(b)).as_matrix()
        assert rot.quaternion_to_matrix(product) == pytest.approx(expected, abs=ROUNDING)

    @given(turns(), turns(), st.floats(0.1, 10.0))
    def test_vectors_are_turned_by_quaternions_of_any_length(self, omega, x, length):
        q = rot.quaternion_exp(omega) * length
        assert rot.rotated(q, x) == pytest.approx(Reference.from_rotvec(omega).apply(x), abs=2 * ROUNDING)
        assert rot.quaternion_to_matrix(q) @ x == pytest.approx(rot.rotated(q, x), abs=2 * ROUNDING)


class TestInverses:
    @given(turns())
    def test_log_of_exp(self, omega):
        assert rot.quaternion_log(rot.quaternion_exp(omega)) == pytest.approx(omega, abs=ROUNDING)
        assert rot.quaternion_log(-rot.quaternion_exp(omega)) == pytest.approx(omega, abs=ROUNDING)

    @given(turns())
    def test_log_of_a_matrix(self, omega):
        R = Reference.from_rotvec(omega).as_matrix()
        assert rot.rotation_exp(rot.rotation_log(R)) == pytest.approx(R, abs=ROUNDING)
        assert np.linalg.norm(rot.rotation_log(R)) <= np.pi + ROUNDING

    @given(turns())
    def test_quaternion_of_a_matrix(self, omega):
        q = rot.matrix_to_quaternion(Reference.from_rotvec(omega).as_matrix())
        assert q[3] >= 0.0 and np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
        assert abs(q @ rot.quaternion_exp(omega)) == pytest.approx(1.0, abs=ROUNDING)
        assert rot.quaternion_to_matrix(q) == pytest.approx(rot.rotation_exp(omega), abs=ROUNDING)

    def test_half_turns_about_every_axis_in_every_plane(self):
        for axis in np.vstack([np.eye(3), np.ones((3, 3)) - np.eye(3), [[1, 1, 1], [1, -2, 3]]]):
            n = axis / np.linalg.norm(axis)
            R = 2.0 * np.outer(n, n) - np.eye(3)
            assert np.abs(rot.rotation_log(R)) == pytest.approx(np.pi * np.abs(n), abs=ROUNDING)

    @given(turns())
    def test_conjugate(self, omega):
        q = rot.quaternion_exp(omega)
        assert rot.quaternion_product(q, rot.quaternion_conjugate(q)) == pytest.approx([0, 0, 0, 1], abs=ROUNDING)

    @given(turns(), turns())
    def test_screws(self, omega, v):
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = skew(omega).astype(float), v
        assert rot.screw_exp(omega, v) == pytest.approx(expm(twist)[:3, 3], abs=1e-13)
        assert rot.screw_log(omega, rot.screw_exp(omega, v)) == pytest.approx(v, abs=1e-13)


class TestNearestRotation:
    def test_noise_is_taken_off(self):
        rng = np.random.default_rng(3)
        exact = Reference.random(100, random_state=rng).as_matrix()
        made = rot.nearest_rotation(exact + 1e-9 * rng.normal(size=exact.shape))
        assert np.abs(np.swapaxes(made, 1, 2) @ made - np.eye(3)).max() < 1e-15
        assert np.abs(made - exact).max() < 1e-8
        assert np.linalg.det(made) == pytest.approx(1.0)

    def test_symmetric_stretch_is_what_goes(self):
        R = Reference.from_rotvec([0.3, -1.0, 2.0]).as_matrix()
        assert rot.nearest_rotation(R @ np.diag([2.0, 0.5, 3.0])) == pytest.approx(R, abs=1e-15)


LAWS = {
    "quaternion_product": (rot.quaternion_product, 4, 4),
    "quaternion_conjugate": (rot.quaternion_conjugate, 4),
    "quaternion_rate": (rot.quaternion_rate, 4, 3),
    "normalized": (rot.normalized, 4),
    "quaternion_exp": (rot.quaternion_exp, 3),
    "quaternion_log": (rot.quaternion_log, 4),
    "quaternion_to_matrix": (rot.quaternion_to_matrix, 4),
    "matrix_to_quaternion": (lambda omega: rot.matrix_to_quaternion(rot.rotation_exp(omega)), 3),
    "rotated": (rot.rotated, 4, 3),
    "screw_exp": (rot.screw_exp, 3, 3),
    "screw_log": (rot.screw_log, 3, 3),
}


@pytest.mark.parametrize("name", LAWS)
class TestSameLinesForAll:
    """One definition for numbers, for arrays of many and for graphs."""

    def test_many_at_once_are_each_alone(self, name):
        function, *sizes = LAWS[name]
        many = [np.random.default_rng(7).normal(size=(2, 5, n)) for n in sizes]
        result = function(*many)
        assert result.dtype == float
        for i, j in np.ndindex(2, 5):
            assert result[i, j] == pytest.approx(function(*(x[i, j] for x in many)), abs=ROUNDING)

    def test_one_is_applied_to_many(self, name):
        function, *sizes = LAWS[name]
        if len(sizes) == 2:
            rng = np.random.default_rng(8)
            one, many = rng.normal(size=sizes[0]), rng.normal(size=(3, sizes[1]))
            assert function(one, many)[2] == pytest.approx(function(one, many[2]), abs=ROUNDING)

    def test_graphs_and_their_derivatives(self, name):
        function, *sizes = LAWS[name]
        rng, graph = np.random.default_rng(9), Graph()
        symbols = [graph.inputs(f"x{k}", n) for k, n in enumerate(sizes)]
        flat = list(function(*symbols).flat)
        assert any(isinstance(x, Expression) for x in flat)
        values, way = [rng.normal(size=n) for n in sizes], [rng.normal(size=n) for n in sizes]
        inputs = {(f"x{k}", i): x for k, v in enumerate(values) for i, x in enumerate(v)}
        assert np.array(evaluate(flat, inputs)) == pytest.approx(function(*values).ravel(), abs=ROUNDING)
        along = {s: d for sym, dire in zip(symbols, way, strict=True) for s, d in zip(sym, dire, strict=True)}
        slope = np.array(evaluate(directional_derivative(flat, along), inputs))
        ahead, behind = (function(*(v + h * d for v, d in zip(values, way, strict=True))) for h in (1e-6, -1e-6))
        assert slope == pytest.approx((ahead - behind).ravel() / 2e-6, abs=1e-7, rel=1e-7)

    def test_object_arrays_in_bulk(self, name):
        function, *sizes = LAWS[name]
        many = [np.random.default_rng(6).normal(size=(3, n)) for n in sizes]
        result = function(*map(array, many))
        assert result.dtype == object
        assert result.astype(float) == pytest.approx(function(*many), abs=ROUNDING)
