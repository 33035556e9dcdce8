"""Compiled loops: machine code and plain Python agree bit for bit, whatever of the language a function uses."""

import copy
import math
import pickle
import threading
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Packed
from recursive_dyn.codegen.loops.intrinsics import floats_at, foreign_int
from recursive_dyn.codegen.loops.types import LoopError

Matrices = Annotated[np.ndarray, float, 3, 3]
Points = Annotated[np.ndarray, float, 3]
TABLE, LIMIT = (1.0, 2.5, 4.0), 3


class Body(NamedTuple):
    masses: Floats
    turns: Matrices
    count: int
    heavy: bool


class Found(NamedTuple):
    total: float
    points: Points
    marks: Flags


@compiled
def whole(a: int, b: int) -> tuple[int, int, int, int, int]:
    return a // b, a % b, a << 2, (a & b) ^ (a | b), int(a / b)


@compiled
def real(x: float, y: float) -> tuple[float, float, float, float, bool]:
    size = math.sqrt(x * x + y * y)
    share = x / size if size > 0.0 and x != y else 0
    return min(x, y, share), max(x, y), abs(x) - y**2, np.floor(x), not x < y <= size or np.isnan(share)


@compiled
def weigh(body: Body, order: Integers) -> Found:
    points, marks = np.zeros((body.count, 3)), np.zeros(body.count, dtype=np.bool_)
    total = 0.0
    for place, k in enumerate(order):
        if k >= body.count:
            continue
        marks[k] = not marks[k]
        for i in range(LIMIT - 1, -1, -1):
            points[k, i] += body.masses[k] * TABLE[i] + place
            total += body.turns[k, i, i]
        points[k] *= 2.0
        if total > 1e6:
            break
    first = points[0].copy()
    points[body.count - 1] += first
    points[1:2] = points[0:1]
    for sign in (1.0, -1.0):
        total += sign * len(order) * (2 if body.heavy else 1)
    return Found(total, points, marks)


@compiled
def halved(n: int) -> int:
    rounds = 0
    while True:
        if n <= 1:
            return rounds
        n = n // 2
        rounds += 1


@compiled
def triangle(n: int) -> float:
    """Memory beyond the first arena, in a function that keeps none of it."""
    total = 0.0
    for k in range(n):
        total += _row(k)
    return total


@compiled
def _row(n: int) -> float:
    row = np.full(n, 1.0)
    total = 0.0
    for x in row:
        total += x
    return total


@compiled
def shared(values: Floats, results: Floats) -> None:
    results[:] = values
    results[0] += 1.0


def same(f, *arguments):
    assert repr(f(*arguments)) == repr(f.python(*arguments))


whole_numbers = st.integers(-(10**6), 10**6)
numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0])


@given(whole_numbers, whole_numbers.filter(bool))
def test_whole_numbers_are_pythons(a, b):
    assert whole(a, b) == whole.python(a, b)


@given(numbers, numbers)
def test_real_numbers_are_pythons(x, y):
    assert [*map(float, real(x, y))] == [*map(float, real.python(x, y))]


@given(st.integers(2, 5), st.booleans(), st.lists(st.integers(0, 5), max_size=12), st.integers(0, 2**32 - 1))
def test_records_and_arrays_are_pythons(count, heavy, order, seed):
    rng = np.random.default_rng(seed)
    body = Body(rng.normal(size=count), rng.normal(size=(count, 3, 3)), count, heavy)
    mine, python = (f(body, np.array(order, dtype=np.int64)) for f in (weigh, weigh.python))
    assert isinstance(mine, Found)
    assert mine.total == python.total
    np.testing.assert_array_equal(mine.points, python.points)
    np.testing.assert_array_equal(mine.marks, python.marks)


def test_loops_end_where_pythons_do():
    assert [halved(n) for n in range(40)] == [halved.python(n) for n in range(40)]


def test_memory_grows_with_what_is_asked_for_and_stays_small_where_nothing_is_kept():
    call = triangle.bind(3000)
    assert call() == triangle.python(3000)
    assert call() == call()
    assert call.arena.header[3] == call.arena.header[4] == 0
    assert call.arena.header[2] < 3000 * 3000  # bytes: not the 36 MB of all rows together


def test_a_bound_call_sees_what_its_arrays_become():
    values, results = np.arange(4.0), np.zeros(4)
    call = shared.bind(values, results)
    values[:] = [5.0, 6.0, 7.0, 8.0]
    assert call() is None
    np.testing.assert_array_equal(results, [6.0, 6.0, 7.0, 8.0])


def test_a_packed_record_is_the_record_and_arrays_may_be_read_only_or_empty():
    rng = np.random.default_rng(0)
    body, order = Body(rng.normal(size=2), rng.normal(size=(2, 3, 3)), 2, True), np.array([1, 0, 1])
    order.flags.writeable = False
    packed = Packed(body)
    first = weigh.bind(packed, order)
    second = weigh.bind(packed, np.zeros(0, dtype=int), arena=first.arena)
    for _ in range(2):
        for call, own in ((first, order), (second, order[:0])):
            mine, python = call(), weigh.python(body, own)
            assert mine.total == python.total
            np.testing.assert_array_equal(mine.points, python.points)
        body.masses[:] = rng.normal(size=2)  # seen through the packed one


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda packed: pickle.loads(pickle.dumps(packed))])
def test_a_copy_of_what_is_packed_lies_in_arrays_of_its_own(copied):
    body, order = Body(np.ones(1), np.zeros((1, 3, 3)), 1, True), np.zeros(1, dtype=int)
    other = copied(Packed(body))
    body.masses[:] = 7.0
    assert weigh.bind(other, order)().total == weigh.python(other.value, order).total
    assert other.value.masses.tolist() == [1.0]


def test_what_does_not_fit_is_told_by_its_field():
    with pytest.raises(
        TypeError, match=r"weigh's body\.turns is a C-contiguous array of float \(n, 3, 3\), not float64"
    ):
        weigh.bind(Body(np.zeros(2), np.zeros((2, 3)), 2, True), np.zeros(0, dtype=int))
    with pytest.raises(TypeError, match="weigh's body is Body, not"):
        weigh.bind((1, 2), np.zeros(0, dtype=int))


@pytest.mark.parametrize(
    "values", [np.zeros(3, dtype=int), np.zeros((2, 2)), np.zeros(6)[::2], [0.0], None, np.zeros(3, dtype=np.float32)]
)
def test_what_is_no_such_array_is_refused(values):
    with pytest.raises(TypeError, match="shared's values is a C-contiguous array of float"):
        shared(values, np.zeros(3))


def _compiled_later(source):
    """A function that exists only as long as a test; its source is a file's, as any function's."""
    import importlib.util
    import sys
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("from typing import Annotated\nfrom recursive_dyn.codegen.compiled import compiled, Floats\n")
        file.write("import numpy as np\n\nPairs = Annotated[np.ndarray, float, 2]\n\n\n" + source)
    spec = importlib.util.spec_from_file_location("later", file.name)
    module = importlib.util.module_from_spec(spec)
    sys.modules["later"] = module
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize(
    "body, words",
    [
        ("x: Floats) -> None:\n    y = x + x", "write the loop"),
        ("x: Floats) -> float:\n    return x[-1]", "not negative"),
        ("x: Pairs) -> None:\n    x[:, 1] = x[:, 0]", "no index comes after a slice"),
        ("x: Floats) -> float:\n    return x", "where float is needed"),
        ("x: float) -> float:\n    x = [1]\n    return x", "no List"),
        ("x: float) -> float:\n    return print(x)", "not a function of compiled loops"),
        ("x: float) -> float:\n    return y", "'y' has no value"),
        ("x: float) -> float:\n    y = 1\n    y = x\n    return y", "float where int is needed"),
        ("x: list) -> float:\n    return 1.0", "no type of compiled loops"),
        ("x) -> float:\n    return 1.0", "needs annotations"),
    ],
)
def test_what_the_language_lacks_is_told_with_its_line(body, words):
    f = _compiled_later(f"@compiled\ndef f({body}\n")
    with pytest.raises(LoopError, match=words):
        f.warm()


def test_functions_by_address_and_memory_of_others():
    import ctypes

    libc = ctypes.CDLL(None)
    address = ctypes.cast(libc.labs, ctypes.c_void_p).value
    values = np.array([1.0, 2.5])
    assert _foreign_sum(address, -7, values.ctypes.data) == _foreign_sum.python(address, -7, values.ctypes.data) == 10.5


@compiled
def _foreign_sum(function: int, number: int, memory: int) -> float:
    total = float(foreign_int(function, number))
    for x in floats_at(memory, 2):
        total += x
    return total


def test_threads_call_one_function_at_once():
    results, calls = [], [triangle.bind(200) for _ in range(4)]

    def work(call):
        results.extend(call() for _ in range(200))

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results) == {triangle.python(200)}


def test_a_compiled_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(halved)) is halved
