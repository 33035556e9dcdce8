"""Functions of compiled loops as LLVM IR modules: a function, all that it calls, and an entry for Python."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

from recursive_dyn.codegen.loops.emitter import METADATA, RESTORE, Value
from recursive_dyn.codegen.loops.intrinsics import DECLARATIONS, result_word
from recursive_dyn.codegen.loops.statements import Statements
from recursive_dyn.codegen.loops.types import NOTHING, LoopError, Type, has_array, signature, words

ENTRY = "entry"
_SHORT = 40  # lines of IR
RELEASE = "release"

# The arena: base, used, capacity, chunks that did not fit, their bytes
_ARENA = f"""
define internal noalias ptr @loops.take(ptr %arena, i64 %bytes) {{
  %used.p = getelementptr i64, ptr %arena, i64 1
  %room.p = getelementptr i64, ptr %arena, i64 2
  %used = load i64, ptr %used.p
  %room = load i64, ptr %room.p
  %up = add i64 %bytes, 63
  %size = and i64 %up, -64
  %end = add i64 %used, %size
  %fits = icmp ule i64 %end, %room
  br i1 %fits, label %yes, label %no
yes:
  store i64 %end, ptr %used.p
  %base = load ptr, ptr %arena
  %p = getelementptr i8, ptr %base, i64 %used
  ret ptr %p
no:
  %whole = add i64 %size, 64
  %chunk = call ptr @malloc(i64 %whole)
  %list.p = getelementptr i64, ptr %arena, i64 3
  %more.p = getelementptr i64, ptr %arena, i64 4
  %head = load ptr, ptr %list.p
  store ptr %head, ptr %chunk
  store ptr %chunk, ptr %list.p
  %more = load i64, ptr %more.p
  %total = add i64 %more, %size
  store i64 %total, ptr %more.p
  %q = getelementptr i8, ptr %chunk, i64 64
  ret ptr %q
}}
define void @{RELEASE}(ptr %arena) {{
start:
  %list.p = getelementptr i64, ptr %arena, i64 3
  %more.p = getelementptr i64, ptr %arena, i64 4
  %first = load ptr, ptr %list.p
  br label %head
head:
  %chunk = phi ptr [ %first, %start ], [ %next, %body ]
  %none = icmp eq ptr %chunk, null
  br i1 %none, label %done, label %body
body:
  %next = load ptr, ptr %chunk
  call void @free(ptr %chunk)
  br label %head
done:
  store ptr null, ptr %list.p
  store i64 0, ptr %more.p
  ret void
}}
"""


@dataclass(frozen=True, eq=False)
class Loops:
    """What the compiler knows of a function before it looks at its body."""

    function: FunctionType
    symbol: str
    parameters: dict[str, Type]
    result: Type

    @cached_property
    def result_size(self) -> int:
        """How many machine words the result has."""
        return len(words(self.result))


def loops_of(function: Callable[..., Any]) -> Loops:
    """Names and types of a function. Raises LoopError for annotations that say no type."""
    assert isinstance(function, FunctionType)
    parameters, result = signature(function)
    return Loops(
        function,
        f"{function.__module__}.{function.__qualname__}".replace("<", "_").replace(">", "_"),
        parameters,
        result,
    )


def module_text(entry: Loops) -> str:
    """LLVM IR of a function with all that it calls, and of ``entry(block, arena)``, with arguments from memory."""
    texts, waiting, uses = {}, [entry], Counter({entry.symbol: 1})
    while waiting:
        loops = waiting.pop()
        texts[loops.symbol], called = _definition(loops)
        waiting += {callee.loops.symbol: callee.loops for callee in called if callee.loops.symbol not in uses}.values()
        uses.update(callee.loops.symbol for callee in called)
    # put into its caller: what is called at one place only, and what is short
    inside = {symbol for symbol, text in texts.items() if uses[symbol] == 1 or text.count("\n") < _SHORT}
    bodies = [
        t.replace("nounwind {", f"nounwind{' alwaysinline' if s in inside else ''} {{", 1) for s, t in texts.items()
    ]
    return "\n".join([DECLARATIONS, _ARENA, *bodies, _entry(entry), METADATA])


def _definition(loops: Loops) -> tuple[str, list[Any]]:
    """LLVM IR of one function, and the compiled functions that it calls."""
    node, path = _tree(loops.function)
    it = Statements(loops.function.__globals__, path, loops.symbol, loops.result)
    it.keeps = has_array(loops.result)
    parameters, values = [], {}
    for name, type_ in loops.parameters.items():
        given = [(word, f"%arg.{name}.{k}") for k, word in enumerate(words(type_))]
        parameters += [f"{word} {operand}" for word, operand in given]
        values[name] = Value(type_, tuple(operand for _, operand in given))
    it.begin(node.body, values)
    if it.emitter.open:
        if loops.result != NOTHING:
            it.emitter.add("unreachable")
        else:
            it.emitter.lines += [RESTORE, "  ret void"]
    return _assembled(loops, it, parameters), it.called


def _assembled(loops: Loops, it: Statements, parameters: list[str]) -> str:
    emit = it.emitter
    begin, restore = [], ""
    if emit.forgets and not it.keeps:
        begin = ["  %used.p = getelementptr i64, ptr %arena, i64 1", "  %used = load i64, ptr %used.p"]
        restore = "  store i64 %used, ptr %used.p"
    body = [restore if line is RESTORE else line for line in emit.lines]
    given = ", ".join([*parameters, "ptr %arena"])
    head = f"define internal {result_word(loops.result)} @{loops.symbol}({given}) nounwind {{"
    tables = [f"{it.table(k)} = {text}" for k, text in enumerate(it.constants)]
    return "\n".join([*tables, head, *emit.heads, *begin, *body, "}"])


def _entry(loops: Loops) -> str:
    """i64 entry(block, arena): arguments from a block of 8-byte cells, results behind them; bytes that did not fit."""
    lines, given, cell = [], [], 0
    for word in (w for type_ in loops.parameters.values() for w in words(type_)):
        lines.append(f"  %p{cell} = getelementptr i64, ptr %block, i64 {cell}")
        loaded = "i64" if word == "i1" else word
        lines.append(f"  %l{cell} = load {loaded}, ptr %p{cell}")
        if word == "i1":
            lines.append(f"  %b{cell} = icmp ne i64 %l{cell}, 0")
        given.append(f"{word} %{'b' if word == 'i1' else 'l'}{cell}")
        cell += 1
    word, parts = result_word(loops.result), words(loops.result)
    call = f"call {word} @{loops.symbol}({', '.join([*given, 'ptr %arena'])})"
    lines.append(f"  {'' if word == 'void' else '%r = '}{call}")
    for k, part in enumerate(parts):
        lines.append(f"  %r{k} = " + (f"extractvalue {word} %r, {k}" if len(parts) > 1 else f"freeze {part} %r"))
        lines.append(f"  %q{k} = getelementptr i64, ptr %block, i64 {cell + k}")
        if part == "i1":
            lines.append(f"  %w{k} = zext i1 %r{k} to i64")
        lines.append(f"  store {'i64 %w' if part == 'i1' else part + ' %r'}{k}, ptr %q{k}")
    text = "\n".join(lines)
    return f"""define i64 @{ENTRY}(ptr %block, ptr %arena) {{
  %used.p = getelementptr i64, ptr %arena, i64 1
  %more.p = getelementptr i64, ptr %arena, i64 4
  store i64 0, ptr %used.p
{text}
  %more = load i64, ptr %more.p
  ret i64 %more
}}"""


def _tree(function: FunctionType) -> tuple[ast.FunctionDef, str]:
    """The syntax tree of a function, and the path of its file."""
    code = function.__code__
    for node in _definitions(code.co_filename):
        # a decorated function's code starts at its first decorator
        if (
            node.name == function.__name__
            and min([node.lineno, *(d.lineno for d in node.decorator_list)]) == code.co_firstlineno
        ):
            return node, code.co_filename
    raise LoopError(f"{code.co_filename}:{code.co_firstlineno}: the source of {function.__name__} is not found")


@cache
def _definitions(path: str) -> tuple[ast.FunctionDef, ...]:
    return tuple(_within(ast.parse(Path(path).read_text())))


def _within(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions that are defined in a piece of source, in others too; expressions are not looked into."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        if isinstance(child, ast.stmt):
            yield from _within(child)
