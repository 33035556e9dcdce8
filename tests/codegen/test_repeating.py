"""What programs do again and again is looped over: to the bit what it is statement by statement, in code as long as a
turn."""

import ctypes

import numpy as np
import pytest

from recursive_dyn.codegen.addresses import address, aligned
from recursive_dyn.codegen.emitting import llvm
from recursive_dyn.codegen.emitting.fusing import fused
from recursive_dyn.codegen.emitting.repeating import stretches
from recursive_dyn.codegen.making import jit
from recursive_dyn.graph.expression import Graph, combine, cos, less, reciprocal, select, sin
from recursive_dyn.graph.program import schedule

NEVER = 10**9


def walk(rng: np.random.Generator, count: int, long: int, kinds: int = 3):
    """Passes there and back over so many links of some kinds in turn: sums, products, sines, choices and tables of what
    a link makes, of what those before and their ones before made, of what the other pass made there, and constants."""
    graph = Graph()
    x, choices = list(graph.inputs("x", 2 * count)), rng.integers(0, 9, size=(3, kinds, long, 3))
    passes, weights = list[list[list]](), rng.uniform(0.5, 1.5, size=count)
    for back, choice in enumerate(choices):
        made: dict[int, list] = {}
        for i in reversed(range(count)) if back == 1 else range(count):
            step = -1 if back == 1 else 1
            own = [x[2 * i], x[2 * i + 1] * weights[i]]
            for near in (made.get(i - step), made.get(i - 2 * step), *(done[i] for done in passes)):
                own += near[-2:] if near is not None else [x[0] * 0.5]
            for a, b, op in choice[i % kinds] if back != 2 else choice[0]:
                own.append(_made(int(op), own[-1 - int(a) % 4], own[int(b) % len(own)], weights[i]))
            made[i] = own
        passes.append([made[i] for i in range(count)])
    ends = [[own[-1] for own in done] for done in passes]
    told = [*ends[0][:20], *ends[1], *ends[2][-20:], sum(map(sum, ends), 0.0), passes[0][count // 2][-2]]
    return schedule(f"walk {count}", [("x", 2 * count)], [("y", told)])


def _made(op: int, a, b, weight: float):
    made = (
        lambda: sin(a * b + weight), lambda: a - b * 0.3, lambda: sin(a) * cos(a) + b, lambda: cos(b - a * a),
        lambda: select(less(a, b), a, b * 0.5), lambda: reciprocal(a * a + 1.0), lambda: sin(b + weight) - a,
        lambda: combine("abs", [a]) * 0.2 + b, lambda: combine("min", [a, b]) + 0.1,
    )  # fmt: skip
    return made[op]()


def run(monkeypatch, program, long: int, x: np.ndarray) -> tuple[np.ndarray, llvm.Emission]:
    """What its machine code makes of x where all longer ones are looped over."""
    monkeypatch.setattr(llvm, "LONG", long)
    emission = llvm.emit(fused(program), 1)
    native = jit.load_objects(jit.compile_modules(emission.modules), {})
    given, made, scratch = aligned(len(x)), aligned(program.output_size), aligned(max(emission.scratch, 1))
    given[:], scratch[:] = x, np.nan
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(native.address(emission.entry))(
        *map(address, (given, made, scratch))
    )
    return made[: program.output_size].copy(), emission


@pytest.mark.parametrize("seed", range(3))
def test_loops_make_the_bits_of_statement_by_statement(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    program = walk(rng, 60, 12, 1 + seed)
    x = rng.normal(size=120)
    (plain, long), (looped, short) = (run(monkeypatch, program, n, x) for n in (NEVER, 1))
    assert np.isfinite(plain).all() and plain.tobytes() == looped.tobytes()
    assert sum(map(len, short.modules)) < 0.6 * sum(map(len, long.modules))


def test_code_does_not_grow_with_what_is_repeated(monkeypatch):
    once, twice = (walk(np.random.default_rng(5), count, 12) for count in (150, 300))
    monkeypatch.setattr(llvm, "LONG", 1)
    first, second = (
        sum(text.count("\n") for text in llvm.emit(fused(program), 1).modules) for program in (once, twice)
    )
    assert abs(second - first) < 0.05 * first


def test_what_hardly_repeats_is_left_as_it_is():
    program = fused(walk(np.random.default_rng(6), 12, 12, 5))
    assert stretches(program, [0, len(program.codes)])[0] == []
