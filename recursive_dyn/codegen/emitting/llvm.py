"""A program as LLVM IR text, one emitter for scalars and for vectors of scenes.

The statement list is cut into functions of bounded size, because instruction selection and register allocation are
superlinear in a function's size; a value used beyond its own function crosses once through a scratch array. What a
long program of scalars does again and again is looped over (``repeating``): its code would outgrow the caches that it
is read through, by which a step of 300 links took twice as long, and take ten to twenty times as long to compile.
Every kernel has the signature void(double* in, double* out, double* scratch); with vector width W each of their
elements is W doubles wide. LLVM may neither fuse nor reorder anything: what is fused, ``fusing`` says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recursive_dyn.codegen.emitting.cuts import Cuts
from recursive_dyn.codegen.emitting.fusing import Fused
from recursive_dyn.codegen.emitting.ir_text import scalar_literal
from recursive_dyn.codegen.emitting.rolled import LoopText
from recursive_dyn.codegen.emitting.skipping import Skip, skipping
from recursive_dyn.codegen.emitting.straight import LIBRARY, FunctionText, Source
from recursive_dyn.codegen.emitting.vector_math import declarations, sincos_ir
from recursive_dyn.graph.program import Program

STATEMENTS_PER_FUNCTION = 1000
FUNCTIONS_PER_MODULE = 4
LONG = 8000  # statements, from where on what is done again and again is looped over: code would outgrow caches


@dataclass(frozen=True)
class Emission:
    """IR modules (text) of a program; ``entry`` names the kernel, ``scratch`` counts the scratch elements."""

    entry: str
    modules: list[str]
    scratch: int


def entry_name(program: Source, width: int) -> str:
    """Name of a program's kernel."""
    return f"rd_{program.hash[:24]}_v{width}"


def emit(program: Source, width: int, statements_per_function: int = STATEMENTS_PER_FUNCTION) -> Emission:
    """LLVM IR of a program for ``width`` scenes at once."""
    entry, skips = entry_name(program, width), list[Skip]()
    if width == 1 and isinstance(program, Fused):
        program, skips = skipping(program)
    cuts = Cuts(program, statements_per_function, skips, width == 1 and len(program.statements) >= LONG)
    functions = [_function(program, cuts, part, width).text(f"{entry}_{part}") for part in range(cuts.parts)]
    modules = []
    for i in range(0, len(functions), FUNCTIONS_PER_MODULE):
        body = "\n".join(functions[i : i + FUNCTIONS_PER_MODULE])
        modules.append(f"{_prelude(width, body)}\n{_tables(program, body)}{body}")
    names = [f"{entry}_{part}" for part in range(cuts.parts)]
    modules.append(
        "\n".join(
            [
                *(f"declare void @{name}(ptr, ptr, ptr)" for name in names),
                f"define void @{entry}(ptr %in, ptr %out, ptr %scratch) {{",
                *cuts.calls(names),
                "  ret void",
                "}",
            ]
        )
    )
    return Emission(entry, modules, cuts.scratch)


def _function(program: Source, cuts: Cuts, part: int, width: int) -> FunctionText:
    if part in cuts.loops and isinstance(program, Fused):
        return LoopText(program, cuts, part)
    return FunctionText(program, cuts, part, width)


def _prelude(width: int, body: str) -> str:
    """Declarations, each once, and the vector sine and cosine where the body calls it."""
    kind = "double" if width == 1 else f"<{width} x double>"
    suffix = "f64" if width == 1 else f"v{width}f64"
    lines = [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in ("sqrt", "fabs", "floor")]
    lines += [f"declare {kind} @llvm.{name}.{suffix}({kind}, {kind})" for name in ("minimum", "maximum")]
    lines += [f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})"]
    lines += [f"declare double @{n}({', '.join(['double'] * (2 if n in ('atan2', 'pow') else 1))})" for n in LIBRARY]
    if "@rd.sincos" in body:
        return "\n".join([*dict.fromkeys([*lines, *declarations(width).splitlines()]), sincos_ir(width)])
    return "\n".join(lines)


def operations_module(operations: dict[str, int], width: int, prefix: str) -> str:
    """Text of functions void PREFIX.NAME(in, out, scratch), each of one operation on so many inputs."""
    bodies = []
    for name, arity in operations.items():
        program = Program(name, (("x", arity),), (("y", 1),), (), [(name, *range(arity))], (arity,))
        bodies.append(FunctionText(program, Cuts(program, 1), 0, width).text(f"{prefix}.{name}"))
    return "\n".join([_prelude(width, "\n".join(bodies)), *bodies])


def _tables(program: Source, body: str) -> str:
    """The tables that a module's body reads, nan behind the last element of each."""
    lines = []
    for k in sorted({int(k) for k in re.findall(r"@rd\.table\.(\d+)", body)}):
        values = [*program.tables[k], float("nan")]
        elements = ", ".join(f"double {scalar_literal(x)}" for x in values)
        lines.append(f"@rd.table.{k} = private unnamed_addr constant [{len(values)} x double] [{elements}]\n")
    return "".join(lines)
