"""A joint's motion subspace S and bias S-dot q-dot against sympy.diff and against numerical differences.

S_j = (G^-1 dG/dq_j)^vee and dS_j/dq_k = (G^-1 d2G/dq_j dq_k - G^-1 dG/dq_k G^-1 dG/dq_j)^vee, with G as the tests
write it.
"""

import numpy as np
import pytest
import sympy as sp
from joint_case import QUATERNION
from joint_cases import KINDS
from trees import assert_close, derivative, single

from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.charted_program import CHART

CASES = {name: single(name).cases[1] for name in KINDS}
PLAIN = [name for name, case in CASES.items() if name != "fixed" and QUATERNION not in case.domain]
WRITTEN = [name for name in PLAIN if CASES[name].matrix]
# sympy.diff takes ten seconds for one of these contacts, and four for a paraboloid with a spin
LONG = ["ellipsoid_on_ellipsoid", "torus_on_torus", "torus_on_cylinder", "spinning_contact", "spinning_glider"]


def vee(W):
    """[angular; linear] (..., 6) of (..., 4, 4) twist matrices."""
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0], W[..., 0, 3], W[..., 1, 3], W[..., 2, 3]], axis=-1)


def subspace_and_bias(joint, q, v):
    """What the package derives, (6, nv) and (6,), at numbers."""
    inputs = {("q", i): x for i, x in enumerate(q)} | {("v", i): x for i, x in enumerate(v)} | {CHART: 0}
    derived = joint.program.kinematics()
    values = np.array(evaluate([*derived.subspace.flat, *derived.bias], inputs), dtype=float)
    return values[:-6].reshape(6, -1), values[-6:]


def from_derivatives(G, first, second, v):
    """S and S-dot q-dot from G (4, 4), dG (n, 4, 4) and d2G (n, n, 4, 4)."""
    back = np.linalg.inv(G)
    S = vee(back @ first).T
    slopes = np.array([[vee(back @ second[j, k] - back @ first[k] @ back @ first[j]) for k in range(len(v))]
                       for j in range(len(v))])  # fmt: skip
    return S, np.einsum("jki,k,j->i", slopes, v, v)


def cases(name):
    case = single(name).cases[1]
    rng = np.random.default_rng(3)
    return case, case.sample(rng, 4), rng.normal(size=(4, case.nv))


@pytest.mark.parametrize("name", [n for n in WRITTEN if n not in LONG])
def test_against_sympy_diff(name):
    case, qs, vs = cases(name)
    G = case.matrix()
    first = [G.diff(s) for s in case.symbols]
    second = [[g.diff(s) for s in case.symbols] for g in first]
    table = sp.lambdify(
        case.symbols, [list(G), [list(g) for g in first], [[list(g) for g in r] for r in second]], cse=True
    )
    n = case.nq
    for q, v in zip(qs, vs, strict=True):
        flat = table(*q)
        G_q, first_q, second_q = (
            np.array(x, dtype=float).reshape(*s, 4, 4) for x, s in zip(flat, ((), (n,), (n, n)), strict=True)
        )
        S, bias = subspace_and_bias(case.joint, q, v)
        expected_S, expected_bias = from_derivatives(G_q, first_q, second_q, v)
        assert_close(S, expected_S, 1e-13)  # both exact: rounding of a few dozen operations
        assert_close(bias, expected_bias, 1e-12, np.abs(second_q).max() + np.abs(first_q).max() ** 2)


@pytest.mark.parametrize("name", PLAIN)
def test_against_numerical_differences(name):
    case, qs, vs = cases(name)
    for q, v in zip(qs, vs, strict=True):

        def transform(t, direction, q=q):
            return np.array([case.pose(q + x * direction) for x in t])

        back = np.linalg.inv(case.pose(q))
        S, bias = subspace_and_bias(case.joint, q, v)
        expected = np.array([vee(back @ derivative(lambda t, e=e: transform(t, e))) for e in np.eye(len(v))]).T
        assert_close(S, expected, 1e-10)  # the stencil's own promise, times the curvature of tori and ellipsoids

        def twist(t, q=q, v=v):
            return np.array([subspace_and_bias(case.joint, q + x * v, v)[0] @ v for x in t])

        assert_close(bias, derivative(twist), 1e-9)  # S-dot q-dot is the rate of the twist S q-dot along q-dot


@pytest.mark.parametrize("name", ["ball", "free"])
def test_a_quaternion_joint_has_a_constant_subspace(name):
    case, qs, vs = cases(name)
    for q, v in zip(qs, vs, strict=True):
        S, bias = subspace_and_bias(case.joint, q, v)
        np.testing.assert_array_equal(S, np.eye(6)[:, : case.nv])
        np.testing.assert_array_equal(bias, 0.0)
