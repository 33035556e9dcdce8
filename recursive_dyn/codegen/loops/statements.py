"""Statements of compiled loops: the body of a function as blocks of instructions."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

from recursive_dyn.codegen.loops import intrinsics
from recursive_dyn.codegen.loops.emitter import NO_VECTORS, RESTORE, Value
from recursive_dyn.codegen.loops.expressions import Expressions
from recursive_dyn.codegen.loops.types import INT, NOTHING, Array, Record, Scalar, Several, Type, words


def _stored(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements write, each time they do: only what assigns and counts does."""
    for statement in body:
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        for name in (n for target in targets if target is not None for n in ast.walk(target)):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                yield name.id
        for part in ("body", "orelse"):
            yield from _stored(getattr(statement, part, []))


class Statements(Expressions):
    """Translates the statements of one function that returns ``result``."""

    def __init__(self, known: dict[str, object], where: str, symbol: str, result: Type) -> None:
        super().__init__(known, where, symbol)
        self.result = result
        self._loops: list[tuple[str, str]] = []  # labels of what continue and break lead to
        self._depth = 0  # of blocks in blocks
        self._settling = False  # whether what is assigned is so wherever it is used
        self._written: Counter[str] = Counter()

    def begin(self, body: list[ast.stmt], parameters: dict[str, Value]) -> None:
        """The whole body of a function with these parameters. Names that are written once need no memory."""
        self._written.update(_stored(body))
        for name, value in parameters.items():
            if name in self._written:
                self.assign(ast.Name(name), value)
            else:
                self.named[name] = value
        self.block(body)

    def block(self, body: list[ast.stmt]) -> None:
        """Statement after statement."""
        self._depth += 1
        for statement in body:
            method = getattr(self, "_" + type(statement).__name__.lower(), None)
            if method is None:
                raise self.fail(statement, f"compiled loops have no {type(statement).__name__}")
            method(statement)
        self._depth -= 1

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.evaluate(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        self._settling = self._depth == 1
        for target in node.targets:
            self.assign(target, value)
        self._settling = False

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def assign(self, target: ast.expr, value: Value) -> None:
        """Give a name, an element, a view or several of these a value."""
        if isinstance(target, ast.Name):
            self._name_it(target, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value.type, Several | Record) or len(value.type.types) != len(target.elts):
                raise self.fail(target, f"{value.type} for {len(target.elts)} names")
            for part, given in zip(target.elts, self.fields(value), strict=True):
                self.assign(part, given)
        elif isinstance(target, ast.Subscript):
            self._put(self.place(self.evaluate(target.value), target.slice, target), value, target)
        else:
            raise self.fail(target, f"nothing is assigned to {ast.unparse(target)}")

    def _name_it(self, target: ast.Name, value: Value) -> None:
        if self._settling and self._written[target.id] == 1:
            self.named[target.id] = value
            return
        if target.id not in self.variables:
            self.variables[target.id] = value.type, self.emitter.slots(value.type, target.id)
        type_, slots = self.variables[target.id]
        self.emitter.write(slots, self.converted(value, type_, target))

    def _put(self, place: Value, value: Value, node: ast.AST) -> None:
        """Write to memory: a number, the same number everywhere, or an array."""
        if isinstance(place.type, Scalar):
            self.emitter.store(place.type, self.converted(value, place.type, node).only, place.only)
        elif not isinstance(value.type, Array):
            assert isinstance(place.type, Array)
            self.fill(place, self.converted(value, place.type.item, node))
        elif value.type != place.type:
            raise self.fail(node, f"{value.type} where {place.type} is needed")
        else:
            intrinsics.move(self, place, value)

    def fill(self, array: Value, number: Value) -> None:
        """Every number of an array becomes the same."""
        assert isinstance(array.type, Array)
        item = array.type.item
        self._each(array, lambda i: self.emitter.store(item, number.only, self._at(array, i)))

    def _each(self, array: Value, body: Callable[[str], None]) -> None:
        """body(i) for each number of an array."""
        assert isinstance(array.type, Array)
        self._counted(("0", self._times(array.parts[1], array.type.stride), 1), lambda i, again, end: body(i))

    def _at(self, array: Value, i: str) -> str:
        """Where number i of an array is."""
        assert isinstance(array.type, Array)
        return self.emitter.address(array.type.item, array.parts[0], i)

    def _counted(self, span: tuple[str, str, int], body: Callable[[str, str, str], None], note: str = "") -> None:
        """body(i, again, end) for each i of a range; where it goes on with the next, and where the loop ends."""
        emit, (low, high, step) = self.emitter, span
        counter = emit.slots(INT, "i")
        head, inside, again, end = (emit.label(hint) for hint in ("for", "each", "next", "end"))
        emit.write(counter, Value(INT, (low,)))
        emit.start(head)
        i = emit.read(INT, counter).only
        emit.branch(emit.value(f"icmp {'slt' if step > 0 else 'sgt'} i64 {i}, {high}"), inside, end)
        emit.start(inside)
        body(i, again, end)
        emit.start(again)
        emit.write(counter, Value(INT, (emit.value(f"add nsw i64 {i}, {step}"),)))
        emit.jump(head, note)
        emit.start(end)

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            place = self.place(self.evaluate(node.target.value), node.target.slice, node.target)
        else:
            place = self.evaluate(node.target)
        if isinstance(place.type, Array):
            self._augment(place, node.op, self.evaluate(node.value), node)
        elif isinstance(node.target, ast.Name):
            self.assign(node.target, self.operation(node.op, place, self.evaluate(node.value), node))
        else:
            assert isinstance(place.type, Scalar)
            old = Value(place.type, (self.emitter.load(place.type, place.only),))
            new = self.operation(node.op, old, self.evaluate(node.value), node)
            self.emitter.store(place.type, self.converted(new, place.type, node).only, place.only)

    def _augment(self, array: Value, op: ast.operator, other: Value, node: ast.AST) -> None:
        assert isinstance(array.type, Array)
        emit, item = self.emitter, array.type.item

        def one(i: str) -> None:
            at, given = self._at(array, i), other
            if isinstance(other.type, Array):
                given = Value(other.type.item, (emit.load(other.type.item, self._at(other, i)),))
            new = self.operation(op, Value(item, (emit.load(item, at),)), given, node)
            emit.store(item, self.converted(new, item, node).only, at)

        self._each(array, one)

    def _if(self, node: ast.If) -> None:
        emit = self.emitter
        yes, no, end = (emit.label(hint) for hint in ("if", "else", "then"))
        emit.branch(self.truth(node.test), yes, no)
        emit.start(yes)
        self.block(node.body)
        if emit.open:
            emit.jump(end)
        emit.start(no)
        self.block(node.orelse)
        emit.start(end)

    def _while(self, node: ast.While) -> None:
        emit = self.emitter
        head, inside, end = (emit.label(hint) for hint in ("while", "do", "done"))
        emit.start(head)
        emit.branch(self.truth(node.test), inside, end)
        emit.start(inside)
        self._inside(node.body, head, end)
        emit.jump(head)
        emit.start(end)

    def _inside(self, body: list[ast.stmt], again: str, end: str) -> None:
        self._loops.append((again, end))
        self.block(body)
        self._loops.pop()

    def _for(self, node: ast.For) -> None:
        source = node.iter
        kind = self.meaning(source.func) if isinstance(source, ast.Call) else None
        if isinstance(source, ast.Call) and kind is range:
            self._count(node, source)
            return
        numbered = isinstance(source, ast.Call) and kind is enumerate
        array = self._sequence(source.args[0] if isinstance(source, ast.Call) and numbered else source)
        assert isinstance(array.type, Array)
        item, emit = array.type, self.emitter

        def entry(i: str) -> None:
            if item.inner:
                value = Value(
                    item.entry,
                    (emit.address(item.item, array.parts[0], self._times(i, item.stride)), str(item.inner[0])),
                )
            else:
                value = Value(item.item, (emit.load(item.item, self._at(array, i)),))
            if numbered:
                value = Value(Several((INT, value.type)), (i, *value.parts))
            self.assign(node.target, value)

        self._entries(node, ("0", array.parts[1], 1), entry)

    def _sequence(self, node: ast.expr) -> Value:
        """An array to go through; numbers in brackets become one."""
        value = self.evaluate(node)
        if isinstance(value.type, Several):
            first = value.type.types[0]
            assert isinstance(first, Scalar)
            array = Value(Array(first), (self.emitter.stack(Array(first), len(value.parts)), str(len(value.parts))))
            for k, part in enumerate(self.fields(value)):
                self._put(Value(first, (self.emitter.address(first, array.parts[0], str(k)),)), part, node)
            return array
        if not isinstance(value.type, Array):
            raise self.fail(node, f"nothing to go through in {value.type}")
        return value

    def _count(self, node: ast.For, source: ast.Call) -> None:
        bounds = [self.converted_up(self.scalar(arg)).only for arg in source.args]
        low, high = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = int(bounds[2]) if len(bounds) == 3 else 1
        self._entries(node, (low, high, step), lambda i: self.assign(node.target, Value(INT, (i,))))

    def _entries(self, node: ast.For, span: tuple[str, str, int], take: Callable[[str], None]) -> None:
        """A loop's body for each i of a range; take(i) gives its target a value first."""

        def body(i: str, again: str, end: str) -> None:
            take(i)
            self._inside(node.body, again, end)

        self._counted(span, body, "" if _entry_by_entry(node) else NO_VECTORS)

    def _break(self, node: ast.Break) -> None:
        self.emitter.jump(self._loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self.emitter.jump(self._loops[-1][0])

    def _return(self, node: ast.Return) -> None:
        emit = self.emitter
        value = Value(NOTHING, ()) if node.value is None else self.evaluate(node.value)
        value = self.converted(value, self.result, node)
        word, parts = intrinsics.result_word(self.result), words(self.result)
        if len(parts) > 1:
            built = "poison"
            for k, (part, operand) in enumerate(zip(parts, value.parts, strict=True)):
                built = emit.value(f"insertvalue {word} {built}, {part} {operand}, {k}")
            text = f"ret {word} {built}"
        else:
            text = f"ret {word} {value.only}" if parts else "ret void"
        if emit.open:
            emit.lines.append(RESTORE)
        emit.add(text)
        emit.open = False


def _entry_by_entry(node: ast.For) -> bool:
    """Whether a loop does x[i] += ..., or the like, for one i after the other, and nothing else."""
    (only, *more), target = node.body, node.target
    if more or not isinstance(only, ast.AugAssign) or not isinstance(only.target, ast.Subscript):
        return False
    index = only.target.slice
    return isinstance(index, ast.Name) and isinstance(target, ast.Name) and index.id == target.id
