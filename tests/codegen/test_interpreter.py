"""Programs run at once, interpreted, and get machine code later: the same bits before and after, whenever it comes."""

import ctypes
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from wishes import only_later

import recursive_dyn as rd
from recursive_dyn.codegen import reference
from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting.fusing import fused
from recursive_dyn.codegen.interpreting.interpreter import ENTRY
from recursive_dyn.codegen.kernel import BatchCall, Kernel, NotFinite, SingleCall
from recursive_dyn.codegen.making import jit, optimizing
from recursive_dyn.errors import StateError
from recursive_dyn.graph.expression import Graph, combine
from recursive_dyn.graph.program import ARGUMENTS, schedule
from recursive_dyn.integrators import registry
from scene import Body, Scene, joints, shapes

ROWS = 48  # a multiple of every width


@pytest.fixture(autouse=True)
def later(monkeypatch):
    return only_later(monkeypatch, "off")


def every_operation():
    """Every operation but tables, on others' results too, and sums of products that round once or twice."""
    graph = Graph()
    unit, positive, x, y, z = graph.inputs("x", 5)
    domains = {"asin": [unit], "acos": [unit], "sqrt": [positive], "log": [positive], "pow": [positive, x],
               "reciprocal": [positive]}  # fmt: skip
    values = [combine(op, domains.get(op, [x, y, z][:n])) for op, n in ARGUMENTS.items() if op != "table"]
    twice = x * z
    values += [twice + y, twice - y, -(x * y), -x + unit * z, y - unit * y, positive * x - y]
    values += [unit * positive + x * x, positive * z - y * y]
    values += [values[0] * values[1] - 0.3, 2.0 * x, 7.0, x, combine("sqrt", [combine("exp", [x]) + 0.5])]
    return schedule("every", [("x", 5)], [("y", values)])


def operands():
    rng = np.random.default_rng(2)
    x = np.column_stack(
        [rng.uniform(-1, 1, ROWS), rng.uniform(1e-3, 5, ROWS), *rng.uniform(-4, 4, (2, ROWS)), np.zeros(ROWS)]
    )
    x[::4, 4] = x[::4, 2]
    x[1::8, 2:4] = [0.0, -0.0]
    x[2::8, 2:4], x[2::8, 4] = [-0.0, 0.0], -0.0
    return x


def bits(array):
    return np.ascontiguousarray(array).view(np.int64).tolist()


def in_lanes(kernel, rows):
    """A kernel's entry as forests call it, which write the beginning of its scratch themselves."""
    given, made, scratch = kernel.memory()
    scratch[:1].view(np.int64)[0] = kernel.own_table
    call, width, results = jit.function(kernel.native, kernel.entry, 3, hold_gil=True), kernel.width, []
    for block in np.split(rows, len(rows) // width):
        given[: block.size] = block.T.reshape(-1)
        call(*(ctypes.c_void_p(address(a)) for a in (given, made, scratch)))
        results.append(made[: kernel.output_size * width].reshape(-1, width).T.copy())
    return np.concatenate(results)


def kernel(program, width=1, **options):
    return Kernel(program.hash, lambda: program, width, **options)


def test_every_operation_gives_the_bits_of_machine_code(later):
    """Interpreted, then compiled, one at a time, in batches and in lanes; zeros have their signs."""
    program, x = every_operation(), operands()
    expected = reference.run(program, {"x": x})["y"]
    exact = bits(BatchCall(kernel(program, jit.vector_width()))([x], ROWS)[0])
    single, wide = kernel(program, soon=True), kernel(program, jit.vector_width(), soon=True)
    assert single.entry == wide.entry == ENTRY and wide.width > 1 and not wide.batches
    call = SingleCall(single)
    for granted in (False, True):
        assert later.grant() == 2 if granted else len(later.wishes) == 2
        results = np.array([call([row]) for row in x])
        np.testing.assert_allclose(results, expected, rtol=1e-13, atol=1e-13)
        assert bits(results) == exact and bits(in_lanes(wide, x)) == exact
        assert bits(BatchCall(single)([x], ROWS)[0]) == exact


def test_sums_of_products_round_once():
    """As exact arithmetic that is rounded at the end; a product that two sums take is rounded by itself."""
    graph = Graph()
    a, b, c = graph.inputs("x", 3)
    program = schedule("sum", [("x", 3)], [("y", [a * b + c, c - a * b])])
    call, rng = (
        SingleCall(kernel(schedule("once", [("x", 3)], [("y", [a * b + c])]), soon=True)),
        np.random.default_rng(3),
    )
    both = SingleCall(kernel(program, soon=True))
    for _ in range(50):
        x, y = rng.normal(size=2)
        z = -x * y * (1 + 1e-15)  # nearly all of it is lost
        once = Fraction(x) * Fraction(y) + Fraction(z)
        assert call([np.array([x, y, z])])[0] == float(once)
        assert both([np.array([x, y, z])]).tolist() == [x * y + z, z - x * y]


def test_a_fused_program_has_the_statements_that_it_needs():
    program = every_operation()
    less = fused(program)
    assert len(less.statements) < len(program.statements) and less.hash == program.hash
    assert [s[0] for s in less.statements].count("mul") < [s[0] for s in program.statements].count("mul")
    assert {"fma", "fms", "fnma"} <= {s[0] for s in less.statements}


def test_what_is_not_finite_or_large_is_told_as_by_machine_code(later):
    graph = Graph()
    (x,) = graph.inputs("x", 1)
    call = SingleCall(kernel(schedule("inverse", [("x", 1)], [("y", [1.0 / x])]), soon=True))
    for _ in range(2):
        with pytest.raises(NotFinite, match="input"):
            call([np.array([np.nan])])
        with pytest.raises(NotFinite, match="output"):
            call([np.array([0.0])])
        call.large = False
        assert call([np.array([2.0**-30])]) == 2.0**30 and call.large
        later.grant()


def test_batches_get_registers_full_once_there_is_code(later):
    """A few rows are computed one by one until then, many wait for it; all have the bits of one at a time."""
    d, width = pendulum().compile(), jit.vector_width()
    q, v = np.random.default_rng(0).normal(size=(2, 2000, 2))
    one_by_one = np.array([d.bias(*row) for row in zip(q[:16], v, strict=False)])
    wide = d.kernel("bias", width, soon=True)
    assert not wide.batches and d.kernel("bias", width, soon=True) is wide
    assert bits(d.bias(q[:16], v[:16])) == bits(one_by_one) and not in_vectors(d, width)
    assert later.grant() == 2 and wide.batches
    assert bits(d.bias(q[:16], v[:16])) == bits(one_by_one) and in_vectors(d, width)
    other = pendulum().compile()
    assert bits(other.bias(q, v)[:16]) == bits(one_by_one) and in_vectors(other, width), "so many were waited for"


def in_vectors(d, width):
    """Whether there is what computes batches of the bias in vectors."""
    return ("bias", width) in d._compiled.batches


def pendulum():
    """Two links."""
    scene, node = Scene(), None
    for k in range(2):
        body = Body(f"link {k}", [shapes.Box((0.1, 0.1, 0.4))], mass=1.0 + 0.1 * k)
        node = (node or scene.world).attach(body, joints.revolute("xy"[k], damping=0.01), rd.pose((0, 0, -0.4)))
    return scene


def many():
    """Two kinds of trees, in lanes."""
    scene = Scene()
    for k in range(12):
        body = Body(f"body {k}", [shapes.Box((0.1, 0.2, 0.3))], mass=1.0)
        scene.world.attach(body, joints.free() if k % 2 else joints.ball(), rd.pose((k, 0, 0)))
    return scene


def moved(sim, steps):
    for _ in range(steps):
        sim.step()
    return bits(np.concatenate([sim.q, sim.v]))


@pytest.mark.parametrize("integrator", registry.INTEGRATORS)
@pytest.mark.parametrize("made", [pendulum, many])
def test_a_motion_is_the_same_whenever_code_comes(later, made, integrator):
    """Before it starts, in the middle, and after a snapshot of before is returned to."""
    scene = made()
    sims = [rd.Simulation(scene.compile(), 1 / 240, integrator) for _ in range(2)]
    for sim in sims:
        sim.v[:] = np.linspace(-2.0, 3.0, len(sim.v))
    snapshot = sims[0].snapshot_bytes()
    expected = moved(sims[0], 20)
    assert moved(sims[1], 10) != expected and later.grant()
    assert moved(sims[1], 10) == expected
    sims[0].restore(snapshot)
    assert moved(sims[0], 20) == expected


def test_a_state_that_is_not_finite_is_refused_before_and_after(later):
    sim = rd.Simulation(pendulum().compile())
    for _ in range(2):
        sim.v[:] = 1e200
        with pytest.raises(StateError, match="last good state is kept"):
            sim.step()
        assert (sim.v == 1e200).all()
        later.grant()


PROGRAM = """
import sys
import numpy as np
import recursive_dyn as rd
from recursive_dyn.codegen.making import optimizing
from scene import Body, Scene, joints

scene = Scene()
scene.world.attach(Body("rod", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
d = scene.compile()
optimizing.hurry()
first = d.bias([0.3], [1.0])
entry = d.kernel("bias").entry
if sys.argv[1:]:
    optimizing.finish()
assert (d.bias([0.3], [1.0]) == first).all() and d.kernel("bias").entry == entry
print(entry, first.tobytes().hex())
"""


def test_what_is_short_is_compiled_at_once_unless_something_is_in_a_hurry(later):
    """Who measures a robot's first calls measures machine code."""
    for hurried, statements, waits in ((False, 8, True), (False, optimizing.SHORT + 1, False), (True, 8, False)):
        later.hurried = hurried
        assert optimizing.is_worth_waiting_for(statements) is waits
    later.hurried = False
    short = kernel(every_operation())
    assert short.entry != ENTRY and not later.wishes


def test_another_process_makes_the_code_that_the_next_start_finds(tmp_path):
    environment = os.environ | {"RECURSIVE_DYN_CACHE": str(tmp_path / "cache"), "RECURSIVE_DYN_PROGRESS": "off"}
    told = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *more], env=environment, capture_output=True, text=True, check=True
        )
        for more in (["wait"], [])
    ]
    (first, result), (then, again) = (done.stdout.split() for done in told)
    assert first == ENTRY and then.startswith("rd_") and then != ENTRY, "the second start has machine code"
    assert again == result
