"""LLVM IR text of one function, line by line: names of values, blocks, memory."""

from __future__ import annotations

from dataclasses import dataclass

from recursive_dyn.codegen.loops.types import Array, Scalar, Type, words

RESTORE = "  ; what this function made is forgotten"
KINDS = ("float", "int", "bool", "int32")  # numbers of different kinds never share memory

NO_VECTORS = ", !llvm.loop !100"  # of a loop that is too short or wild to be run in vectors

METADATA = "\n".join(
    ['!0 = !{!"numbers"}', "!100 = distinct !{!100, !101}", '!101 = !{!"llvm.loop.vectorize.enable", i1 false}']
    + [
        f'!{2 * k + 1} = !{{!"{kind}", !0, i64 0}}\n!{2 * k + 2} = !{{!{2 * k + 1}, !{2 * k + 1}, i64 0}}'
        for k, kind in enumerate(KINDS)
    ]
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its type and the operands that hold its machine words."""

    type: Type
    parts: tuple[str, ...]

    @property
    def only(self) -> str:
        """The operand of a number."""
        (part,) = self.parts
        return part


class Emitter:
    """Collects the lines of a function; what follows a jump is dropped until the next label."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.heads: list[str] = []  # memory of variables, in the entry block
        self.open = True
        self.forgets = False  # whether memory was taken from the arena
        self._count = 0

    def name(self, hint: str = "t") -> str:
        """A new name."""
        self._count += 1
        return f"%{hint}.{self._count}"

    def add(self, line: str) -> None:
        """A line."""
        if self.open:
            self.lines.append("  " + line)

    def value(self, text: str) -> str:
        """The name of what an instruction gives."""
        name = self.name()
        self.add(f"{name} = {text}")
        return name

    def label(self, hint: str) -> str:
        """A new block's name."""
        return self.name(hint)

    def start(self, label: str) -> None:
        """A block begins; what comes before falls into it."""
        if self.open:
            self.lines.append(f"  br label {label}")
        self.lines.append(f"{label[1:]}:")
        self.open = True

    def jump(self, label: str, note: str = "") -> None:
        """Go there; note: what LLVM is told of a loop that this closes."""
        self.add(f"br label {label}{note}")
        self.open = False

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Go to one of two."""
        self.add(f"br i1 {condition}, label {yes}, label {no}")
        self.open = False

    def slots(self, type_: Type, hint: str) -> tuple[str, ...]:
        """Memory for a variable's words."""
        names = []
        for word in words(type_):
            name = self.name(hint)
            self.heads.append(f"  {name} = alloca {word}, align 8")
            names.append(name)
        return tuple(names)

    def read(self, type_: Type, slots: tuple[str, ...]) -> Value:
        """A variable's value."""
        return Value(type_, tuple(self.value(f"load {w}, ptr {s}") for w, s in zip(words(type_), slots, strict=True)))

    def write(self, slots: tuple[str, ...], value: Value) -> None:
        """Give a variable a value."""
        for word, slot, part in zip(words(value.type), slots, value.parts, strict=True):
            self.add(f"store {word} {part}, ptr {slot}")

    def stack(self, array: Array, count: int) -> str:
        """Memory of ``count`` entries that lives as long as the function's call."""
        name = self.name("stack")
        self.heads.append(f"  {name} = alloca [{count * array.stride} x {array.item.cell}], align 16")
        return name

    def load(self, item: Scalar, address: str) -> str:
        """A number from memory, as a machine word."""
        tag = 2 * KINDS.index(item.name) + 2
        loaded = self.value(f"load {item.cell}, ptr {address}, align {item.size}, !tbaa !{tag}")
        if item.cell == item.word:
            return loaded
        if item.name == "bool":
            return self.value(f"icmp ne i8 {loaded}, 0")
        return self.value(f"sext {item.cell} {loaded} to {item.word}")

    def store(self, item: Scalar, word: str, address: str) -> None:
        """A number to memory."""
        if item.cell != item.word:
            word = self.value(f"{'zext' if item.name == 'bool' else 'trunc'} {item.word} {word} to {item.cell}")
        self.add(f"store {item.cell} {word}, ptr {address}, align {item.size}, !tbaa !{2 * KINDS.index(item.name) + 2}")

    def address(self, item: Scalar, base: str, offset: str) -> str:
        """Where a number is that lies ``offset`` numbers on."""
        return self.value(f"getelementptr inbounds {item.cell}, ptr {base}, i64 {offset}")
