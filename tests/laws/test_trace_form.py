"""The trace form and its coefficients are the recursions' equations of motion, to rounding, on any tree.

Its expressions are the transforms differentiated by time and nothing else, so that it is an oracle of its own for
motion subspaces, their rates, composite inertias and regrouped masses.
"""

import numpy as np
import pytest
from constraint_cases import bound
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import SAMPLED, assert_close, named, random_scene

import recursive_dyn as rd
from recursive_dyn.codegen.reference import run
from recursive_dyn.graph.coefficients import linear_forms
from recursive_dyn.graph.expression import Graph, select, sin
from scene import Body, Scene, joints

OF = ("inverse_dynamics", "mass_matrix", "bias", "gravity", "forward_dynamics")
SUMMED, SOLVED = 1e-13, 1e-12


def compare(found, seed: int) -> None:
    """Every function of the equations by both methods, as their programs define it."""
    q, v = found.states(4, seed)
    rng = np.random.default_rng(seed)
    inputs = {"q": q, "v": v, "a": rng.normal(size=v.shape), "tau": rng.normal(size=v.shape), "parameters": np.zeros(0)}
    results = {}
    for method in ("recursive", "trace"):
        d = found.scene.compile(method)
        inputs["parameters"] = np.array([value for _, value in d.model.parameters])
        results[method] = {name: next(iter(run(d.program(name), inputs).values())) for name in OF}
    recursive, trace = results["recursive"], results["trace"]
    M = recursive["mass_matrix"].reshape(4, d.nv, d.nv)
    solved = max(SOLVED, 10 * np.finfo(float).eps * np.linalg.cond(M).max()) if d.nv else SOLVED
    for name in OF:
        assert_close(trace[name], recursive[name], solved if name == "forward_dynamics" else SUMMED)


@pytest.mark.parametrize("name", SAMPLED)
def test_every_joint_type_has_the_recursions_equations(name):
    compare(named(name), 1)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5), couplings=st.booleans())
def test_any_tree_has_the_recursions_equations(seed, bodies, couplings):
    compare(random_scene(seed, bodies, couplings=couplings), seed)


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 9), couplings=st.booleans())
def test_many_trees_have_the_recursions_equations(seed, bodies, couplings):
    compare(random_scene(seed, bodies, couplings=couplings), seed)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "implicit_midpoint", "linearly_implicit_rk4"])
def test_a_simulation_goes_the_same_way_by_it(integrator):
    """A constraint of every sort, at 1/60 s: until rounding has grown."""
    found = bound(1, 3, ("revolute", "prismatic", "screw", "universal", "planar", "ball", "free"))
    q, v, _ = found.states(1, 3)
    ends = []
    for method in ("recursive", "trace"):
        sim = rd.Simulation(found.dynamics(method), 1 / 60, integrator)
        sim.q, sim.v = found.dynamics(method).project(q[0], 0.3 * v[0])
        sim.step(20)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert_close(ends[1], ends[0], 1e-7)


def test_the_mass_matrix_of_a_double_pendulum_is_the_textbooks():
    """Point masses m on massless rods of length l, the second angle against the first."""
    scene, m, l = Scene(), 1.3, 0.7
    node = scene.world
    for k in range(2):
        body = Body(f"b{k}", mass=m, center_of_mass=(l, 0, 0), inertia=np.zeros((3, 3)))
        node = node.attach(body, joints.revolute("y"), at=rd.pose((l * k, 0, 0)))
    c = np.cos(0.6)
    own = m * l * l
    expected = [[own * (3 + 2 * c), own * (1 + c)], [own * (1 + c), own]]
    assert_close(scene.compile("trace").mass_matrix([0.4, 0.6]), expected, 1e-14)


def test_coefficients_are_taken_from_sums_products_and_choices():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    k = graph.input(("k", 0))
    (form, plain) = linear_forms([select(k, (x - y) * sin(k) + 3.0, -x) + x * k, k * 2.0], [x, y])
    assert form.coefficients[0] is select(k, sin(k), -1.0) + k and form.coefficients[1] is select(k, -sin(k), 0.0)
    assert form.rest is select(k, 3.0, 0.0) and plain.coefficients == {} and plain.rest is k * 2.0


@pytest.mark.parametrize("bent", [lambda x, y: x * y, lambda x, y: sin(x), lambda x, y: select(x, 1.0, y)])
def test_what_is_not_linear_has_no_coefficients(bent):
    x, y = Graph().inputs("x", 2)
    with pytest.raises(rd.ModelError, match="not linear"):
        linear_forms([bent(x, y)], [x, y])


def test_an_unknown_method_is_refused_with_all_there_are():
    with pytest.raises(rd.ModelError, match=r"unknown method 'tracing'.*recursive, lagrangian, trace"):
        Scene().compile("tracing")
