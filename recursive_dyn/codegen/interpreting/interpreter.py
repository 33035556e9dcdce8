"""Programs run by data, before there is machine code of them: an interpreter, and the tables that it reads.

A call reads a table of i64 whose address its scratch begins with. The table's first entry says what runs: the
interpreter, or, from the moment on at which that is written there, the program's own machine code, which rounds the
same (``emitting.fusing``). So nothing that holds addresses needs to know when code arrives.

Most of a program are sums and products. All of these, and signs, are one operation without a branch,

    +-a b +- c,   x + y = x 1 + y,   x y = x y + (-0),   -x = -x 1 + (-0),

which is exact where it stands for one that rounds once, zeros with their signs included. Stretches of it end with one
other operation each.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.emitting.drivers import PAD, call_driver, module
from recursive_dyn.codegen.emitting.fusing import ARITY, CODES, OPERATIONS, Fused
from recursive_dyn.codegen.emitting.ir_text import place
from recursive_dyn.codegen.emitting.program_code import ProgramCode
from recursive_dyn.codegen.emitting.sizes import Stepping
from recursive_dyn.codegen.emitting.straight import Source
from recursive_dyn.codegen.emitting.table_driver import batch, linked, sizes
from recursive_dyn.codegen.interpreting.interpreter_text import CALLS, LAYOUT, interpreter_module
from recursive_dyn.codegen.making import jit

ENTRY = "rd_by_table"
RUN = LAYOUT.index("run")
_MINUS = np.int64(1) << 31  # in a value number: of the value with its sign turned
_SIZES = sizes(LAYOUT)
_ENTRY = f"""define void @{ENTRY}(ptr %in, ptr %out, ptr %scratch) nounwind {{
  %table = load ptr, ptr %scratch
  %run = load ptr, ptr %table
{place("own", "double", "%scratch", PAD)}
  call void %run(ptr %in, ptr %out, ptr %own, ptr %table)
  ret void
}}
"""


def interpretable(source: Source) -> bool:
    """Whether it rounds as its machine code does, and all its operations are known here."""
    return isinstance(source, Fused) and not source.tables


class Interpreted:
    """A program as the interpreter reads it, with the loop of steps around it, if there is one.

    table: its address goes to the beginning of every call's scratch; native: machine code of ENTRY, and of what is
    around it, as of every kernel.
    """

    def __init__(self, code: ProgramCode, stepping: Stepping | None) -> None:
        program, width, self._entry = code.source, code.width, code.entry
        assert isinstance(program, Fused)
        numbers = np.repeat(np.array([*program.constants, 1.0, -0.0]), width)
        lengths, words = _words(program)
        results = _places(program.results, program).astype(np.int32)
        inputs, outputs = ([size for _, size in segments] for segments in (code.inputs, code.outputs))
        segments = np.array([*inputs, *outputs], dtype=np.int64)
        nq, nv, units = (0, 0, ()) if stepping is None else (stepping.nq, stepping.nv, stepping.units)
        pairs = np.array([(first, end - first) for first, end in units], dtype=np.int64).reshape(-1, 2)
        interpreter = _interpreter(width)
        entries = {
            "run": interpreter.address(_name(width)), "inputs": program.input_size, "outputs": len(results),
            "nq": nq, "nv": nv, "unit_count": len(pairs), "unit_table": address(pairs),
            "input_segments": len(inputs), "input_sizes": address(segments),
            "output_segments": len(outputs), "output_sizes": address(segments[len(inputs) :]),
            "constants": len(numbers) // width, "constant_table": address(numbers),
            "stretches": len(lengths), "stretch_table": address(lengths),
            "code": address(words), "results": address(results),
        }  # fmt: skip
        self.table = np.array([entries[name] for name in LAYOUT], dtype=np.int64)
        self._own: list[jit.Native] = []
        scratch = PAD + program.first_statement + 2 + len(words)  # values, as many as statements and one more
        driver = _driver("" if stepping is None else stepping.loop(ENTRY, _SIZES))
        kept = self.table, interpreter, numbers, lengths, words, results, segments, pairs, self._own
        self.native = replace(driver.holding(*kept), facts=code.facts(ENTRY, scratch))

    def replace(self, native: jit.Native) -> None:
        """Have the program's machine code run from the next call on."""
        self._own.append(native)
        self.table[RUN] = native.address(self._entry)


def _words(program: Fused) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the stretches, and rows (n + 1, 4) of words: value numbers of a, b, c of sums and products, else the
    operation and its arguments; the last one says nothing."""
    codes, one = program.codes, program.first_statement
    arguments = _places(program.arguments, program)
    x, y, z = arguments.T
    rows, plain = np.zeros((len(codes) + 1, 4), dtype=np.int64), np.zeros(len(codes), dtype=bool)
    for name, given in {
        "add": (x, one, y), "sub": (x, one, y | _MINUS), "mul": (x, y, one + 1), "neg": (x | _MINUS, one, one + 1),
        "fma": (x, y, z), "fms": (x, y, z | _MINUS), "fnma": (x | _MINUS, y, z),
    }.items():  # fmt: skip
        here = codes == CODES[name]
        rows[:-1][here, :3] = np.stack(np.broadcast_arrays(*given), axis=1)[here]
        plain |= here
    others, numbers = (~plain).nonzero()[0], np.full(len(OPERATIONS), -1)
    numbers[[CODES[name] for name in CALLS]] = np.arange(len(CALLS))
    rows[others, 0] = numbers[codes[others]]
    rows[others, 1:] = arguments[others] * (np.arange(3) < ARITY[codes[others], None])
    return np.diff(np.append(others, len(codes)), prepend=-1) - 1, rows.astype(np.uint32)


def _places(numbers: np.ndarray, program: Fused) -> np.ndarray:
    """Where values of these numbers are: 1 and -0 come between constants and statements."""
    return np.where(numbers < program.first_statement, numbers, numbers + 2)


def _name(width: int) -> str:
    return f"rd_interpret_v{width}"


@cache
def _interpreter(width: int) -> jit.Native:
    """The interpreter of programs of a width."""
    return jit.load_objects([jit.object_code(interpreter_module(_name(width), width))], {})


@cache
def _driver(loop: str) -> jit.Native:
    """What is around ENTRY, with one more loop."""
    text = module("", _ENTRY, call_driver(ENTRY, "%inputs", "%outputs", _SIZES.first), batch(ENTRY, LAYOUT))
    return linked(text, ENTRY, loop)


def compile_interpreters(*widths: int) -> None:
    """Have interpreters in the cache."""
    _driver("")
    for width in widths:
        _interpreter(width)
