"""One program, three ways to run it: the reference interpreter, LLVM one scene at a time, LLVM in vectors."""

from functools import cache

import numpy as np
import pytest
from joint_cases import KINDS
from trees import SAMPLED_KINDS, assert_close, named, random_scene

from recursive_dyn.codegen import reference
from recursive_dyn.codegen.kernel import BatchCall, SingleCall
from recursive_dyn.codegen.making import jit
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.errors import ModelError
from recursive_dyn.recursion.context import segment_size

# The same operations in the same order; LLVM fuses a * b + c into one rounding and has its own sine and cosine, so that
# results differ by a few roundings, magnified by the condition number where a system is solved.
ROUNDING, SOLVED = 1e-13, 1e-12
AT_LOCKS = {
    "cartesian_forces",
    "pair_wrenches",
    "tree_wrenches",
    "joint_velocities",
    "tree_velocities",
    "pose_step",
}  # singular
SOLVING = {
    "forward_dynamics", "step_accelerations", "rates", "step", "midpoint", "impulse_factors", "loaded_accelerations",
    "variational",
    *AT_LOCKS,
}  # fmt: skip


def arguments(m, function, count):
    """Rows of every input segment of a function, at configurations in the joints' domains."""
    d = m.dynamics()
    q, v = m.states(count, 1)
    rng = np.random.default_rng(2)
    given = {"q": q, "v": v, "q_end": m.states(count, 3)[0], "v_middle": v, "dt": np.full((count, 1), 0.01)}
    given["poses"] = d.poses(given["q_end"]).reshape(count, -1)
    given["weights"] = rng.uniform(0.5, 2.0, (count, segment_size(d.model, "weights")))
    names = FUNCTIONS[function].inputs
    return {n: given.get(n, rng.normal(size=(count, segment_size(d.model, n)))) for n in names}


def interpreted(d, function, rows):
    inputs = rows | {"parameters": d.parameters.values_array}
    return np.concatenate(list(reference.run(d.program(function), inputs).values()), axis=-1)


@cache
def _compiled_with(bodies, kinds, effort):
    """A random tree whose kernels are all made with that effort."""
    return random_scene(bodies, bodies, kinds)


def in_vectors(d, function, rows):
    """A batch in vectors of this machine's width, at whatever effort."""
    call, count = BatchCall(d.kernel(function, jit.vector_width())), len(next(iter(rows.values())))
    results = call([*map(np.ascontiguousarray, rows.values()), d.parameters.values_array.reshape(1, -1)], count)
    return np.concatenate(results, axis=-1)


def assert_same(function, actual, expected):
    assert_close(actual, expected, SOLVED if function in SOLVING else ROUNDING)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("bodies", "effort"),
    [(5, 0), (5, jit.FULL), pytest.param(9, jit.FULL, marks=pytest.mark.slow)],
    ids=str,
)
def test_every_function_on_every_backend(bodies, effort, function, monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_EFFORT", str(effort))
    kinds = tuple(k for k in KINDS if not (function in AT_LOCKS and k == "euler"))
    m = _compiled_with(bodies, kinds, effort)
    d = m.dynamics()
    rows = arguments(m, function, 11)  # no multiple of a vector's width
    expected = interpreted(d, function, rows)
    single = SingleCall(d.kernel(function))
    one_by_one = [single([*(r[i] for r in rows.values()), d.parameters.values_array]) for i in range(11)]
    assert_same(function, np.array(one_by_one), expected)
    assert_same(function, d.batch(function, list(rows.values()), (11,)), expected)
    assert_same(function, in_vectors(d, function, rows), expected)


@pytest.mark.parametrize("kind", SAMPLED_KINDS)
def test_every_joint_type_on_every_backend(kind):
    m = named(kind)
    d = m.dynamics()
    for function in ("forward_dynamics", "velocities"):
        rows = arguments(m, function, 3)
        expected = interpreted(d, function, rows)
        assert_same(
            function,
            np.array([d.call(function, *(r[i] for r in rows.values())) for i in range(3)]).reshape(3, -1),
            expected,
        )
        assert_same(function, d.call(function, *rows.values()).reshape(3, -1), expected)
        assert_same(function, in_vectors(d, function, rows), expected)


@pytest.mark.parametrize("width", [2, 4, 8])
def test_every_vector_width_and_every_remainder_of_rows(width):
    m = named("telescope")
    d = m.dynamics()
    rows = arguments(m, "forward_dynamics", 2 * width + 1)
    expected = interpreted(d, "forward_dynamics", rows)
    call = BatchCall(d.kernel("forward_dynamics", width))
    for count in range(1, 2 * width + 2):
        given = [np.ascontiguousarray(r[:count]) for r in rows.values()]
        (result,) = call([*given, d.parameters.values_array.reshape(1, -1)], count)
        assert_same("forward_dynamics", result, expected[:count])


def test_an_effort_of_code_generation_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_EFFORT", "3")
    with pytest.raises(ModelError, match="RECURSIVE_DYN_EFFORT is '3': set 0 to compile faster"):
        named("revolute").scene.compile().mass_matrix(np.zeros(3))


def test_threads_do_not_change_a_batch():
    m = named("carried_ball")
    d = m.dynamics()
    rows = list(arguments(m, "forward_dynamics", 1001).values())
    one = d.batch("forward_dynamics", rows, (1001,), threads=1)
    np.testing.assert_array_equal(d.batch("forward_dynamics", rows, (1001,), threads=3), one)


def test_leading_axes_broadcast():
    m = named("tree of 5")
    d = m.dynamics()
    q, v = m.states(6, 1)
    q, v = q.reshape(2, 3, -1), v[:3]
    many = d.forward_dynamics(q, v)
    assert many.shape == (2, 3, d.nv)
    for i in np.ndindex(2, 3):
        assert_close(many[i], d.forward_dynamics(q[i], v[i[1]]), SOLVED)
    assert d.poses(q).shape == (2, 3, 5, 4, 4)
    assert d.jacobian(q, d.bodies[-1]).shape == (2, 3, 6, d.nv)
    assert d.kinetic_energy(q, v).shape == (2, 3)
    assert d.momentum(q[:, :0], v[:0]).shape == (2, 0, 6)


def test_the_vector_width_of_this_machine_is_one_that_is_tested():
    assert jit.vector_width() in (1, 2, 4, 8)
