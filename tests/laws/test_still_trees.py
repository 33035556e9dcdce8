"""Trees that are marked as still keep what a program gave for them, a register's width together; all others are new."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.codegen.making import jit
from recursive_dyn.dynamics.program_calls import (
    all_finite,
    equal,
    equal_where,
    evaluated_awake,
    none_where,
    program_call,
    zero_where,
)
from scene import Body, Scene, joints, shapes

COUNT, MOVES = 4 * jit.vector_width() + 3, 2 * jit.vector_width() + 1  # trees, and the one that moves


@pytest.fixture(scope="module")
def dynamics():
    """Boxes that float, each of a size of its own."""
    scene = Scene()
    for k in range(COUNT):
        scene.world.attach(Body(f"b{k}", [shapes.Box((0.1, 0.1, 0.1 + 0.01 * k))]), joints.free())
    return scene.compile()


def states(dynamics: rd.Dynamics):
    """Two of them, all of whose numbers differ."""
    rng = np.random.default_rng(3)
    ways = rng.normal(size=(2, dynamics.nv))
    return [(dynamics.integrate(dynamics.neutral(), way, 1.0), rng.normal(size=dynamics.nv)) for way in ways]


def given(function: str, q: np.ndarray, v: np.ndarray):
    return {
        "frames": (q, v, q[:0]), "integrate": (q, v, np.ones(1)),
        "impulse_factors": (q, np.zeros(2), np.zeros(2 * len(v))),
        "step_accelerations": (q, v, np.append(0.0 * v, 0.0)),
    }[function]  # fmt: skip


@pytest.mark.parametrize("function", ["frames", "integrate", "impulse_factors", "step_accelerations"])
def test_blocks_of_still_trees_keep_what_they_gave(dynamics, function):
    still = np.zeros(1 + dynamics.nq, dtype=np.int64)
    call, parameters = program_call(dynamics, function, still), dynamics.parameters.values_array
    (whole, other), values = states(dynamics), []
    for state in (whole, other):
        full = program_call(dynamics, function)
        assert evaluated_awake.bind(full, *given(function, *state), parameters)()
        values.append(full.outputs.copy())
    still[1:] = 1
    still[1 + 7 * MOVES : 1 + 7 * MOVES + 7] = 0
    assert evaluated_awake.bind(call, *given(function, *whole), parameters)()
    assert call.outputs.tobytes() == values[0].tobytes()  # nothing was known before
    assert evaluated_awake.bind(call, *given(function, *other), parameters)()
    old, new = call.outputs == values[0], call.outputs == values[1]
    assert (old | new).all()
    changed = (~old).sum() / (values[0] != values[1]).sum()
    assert 1 / COUNT <= changed < 1.5 * jit.vector_width() / COUNT
    still[:] = 0
    assert evaluated_awake.bind(call, *given(function, *other), parameters)()
    assert call.outputs.tobytes() == values[1].tobytes()


def test_who_moves_is_told_anew(dynamics):
    still = np.zeros(1 + dynamics.nq, dtype=np.int64)
    call, parameters = program_call(dynamics, "frames", still), dynamics.parameters.values_array
    still[1:] = 1
    still[1 + 7 * MOVES : 1 + 7 * MOVES + 7] = 0
    for q, v in states(dynamics):
        assert evaluated_awake.bind(call, q, v, q[:0], parameters)()
    assert call.outputs[16 * MOVES : 16 * MOVES + 16].tobytes() == dynamics.poses(q)[MOVES].tobytes()


def test_numbers_that_are_not_finite_are_not_kept(dynamics):
    still = np.zeros(1 + dynamics.nq, dtype=np.int64)
    call, parameters = program_call(dynamics, "frames", still), dynamics.parameters.values_array
    (q, v), _ = states(dynamics)
    assert not evaluated_awake.bind(call, np.full_like(q, np.nan), v, q[:0], parameters)()
    still[1:] = 1
    assert evaluated_awake.bind(call, q, v, q[:0], parameters)()
    assert all_finite(call.outputs)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 40])
def test_numbers_are_compared_to_the_last(size):
    """Whole registers and what is left over: one other number anywhere is found, unless it is not marked."""
    x, flags, marks = np.ones(size), np.ones(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    assert all_finite(x) and equal(x, x.copy()) and equal_where(marks, x, 2.0 * x)
    assert zero_where(marks, x) and none_where(marks, flags)
    for k in range(size):
        y, only = x.copy(), marks.copy()
        y[k], only[k] = 2.0, 1
        assert (
            not equal(x, y) and not equal_where(only, x, y) and not zero_where(only, x) and not none_where(only, flags)
        )
        for bad in (np.nan, np.inf):
            y[k] = bad
            assert not all_finite(y) and not equal(x, y)
