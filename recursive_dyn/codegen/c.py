"""C99 of a program through SymPy's C printer, and of a whole model for use without Python.

Every value has a symbol of its own, so nothing is nested, nothing is rearranged by SymPy, and every name in the code is
generated. A long program is cut into functions that hand values on through an array, because C compilers take time
superlinear in a function's size. A scene's own names appear in comments only, stripped of what could end one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.codegen.ast import (
    Assignment,
    CodeBlock,
    Declaration,
    Element,
    FunctionPrototype,
    Pointer,
    Variable,
    real,
    value_const,
)
from sympy.codegen.cnodes import void
from sympy.printing.c import C99CodePrinter

from recursive_dyn.errors import ModelError
from recursive_dyn.functions import FUNCTIONS, columns
from recursive_dyn.model import WORLD
from recursive_dyn.program import Program

if TYPE_CHECKING:
    from recursive_dyn.dynamics import Dynamics

HEADER = "recursive_dyn_model.h"
STATEMENTS_PER_FUNCTION = 2000

# What the header says of each function: the contract, in its order.
EXPORTED = {
    "forward_dynamics": "Accelerations of the coordinates under the generalized forces tau.",
    "inverse_dynamics": "Generalized forces for the accelerations a.",
    "mass_matrix": "M, row after row.",
    "bias": "C(q, v) v and gravity: the generalized forces that hold zero acceleration.",
    "gravity": "Gravity's part of the bias.",
    "poses": "X_WB of every body, a 4 x 4 matrix, row after row.",
    "velocities": "[omega; v] of every body at its origin, world axes.",
    "screws": "Twist [omega; v] at the world origin, world axes, of unit speed of each column listed above.\n"
    "The Jacobian of a body's point, at p in the world, has [omega; v + omega x p] in the slot of every\n"
    "column of the body's link and of that link's parents (summed where columns share a slot), else zero.",
    "kinetic_energy": "Kinetic energy, rotors included.",
    "potential_energy": "Gravity's potential, zero with all mass at the world origin.",
    "momentum": "[angular about the world origin; linear], world axes.",
    "center_of_mass": "Centre of mass of all that moves, world axes.",
    "integrate": "The configuration after moving with constant velocity v for dt.",
    "difference": "The velocity that leads from q to q_end in a unit of time.",
    "generalized_forces": "Sum of J^T W of wrenches [moment; force], world axes at each body's centre of mass.",
    "cartesian_forces": "Wrenches, world axes at each body's centre of mass, that act as tau.",
    "external_forces": "Sum of J^T W of wrenches [moment; force], world axes at each body's origin.",
    "step": "q, v after dt: semi-implicit Euler with joint damping, springs and limits.",
}

_IN, _OUT, _SCRATCH = sp.Symbol("in"), sp.Symbol("out"), sp.Symbol("s")
_ONE, _ZERO = sp.Float(1.0), sp.Float(0.0)


def _apply(function: Any) -> Callable[..., Any]:
    return lambda *args: function(*args, evaluate=False)


def _negative(a: Any) -> Any:
    return sp.Mul(-1, a, evaluate=False)


def _choose(condition: Any, a: Any, b: Any) -> Any:
    return sp.Piecewise((a, condition), (b, True), evaluate=False)


_EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "add": _apply(sp.Add),
    "sub": lambda a, b: sp.Add(a, _negative(b), evaluate=False),
    "mul": _apply(sp.Mul),
    "neg": _negative,
    "reciprocal": lambda a: sp.Pow(a, -1, evaluate=False),
    "sqrt": lambda a: sp.Pow(a, sp.S.Half, evaluate=False),
    "pow": _apply(sp.Pow),
    "less": lambda a, b: _choose(sp.Lt(a, b, evaluate=False), _ONE, _ZERO),
    "select": lambda c, a, b: _choose(sp.Ne(c, _ZERO, evaluate=False), a, b),
    "abs": _apply(sp.Abs),
    "min": _apply(sp.Min),
    "max": _apply(sp.Max),
    **{
        name: _apply(getattr(sp, name))
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log")
    },
}


class _Printer(C99CodePrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's C99 printer with operands left in order and decimals that read back as the very same double."""

    def __init__(self) -> None:
        super().__init__({"order": "none"})

    def _print_Float(self, number: Any) -> str:
        return repr(float(number))

    def _print_Piecewise(self, choice: Any) -> str:
        (a, condition), (b, _) = choice.args
        return f"({self._print(condition)}) ? {self._print(a)} : {self._print(b)}"


def c_source(program: Program, name: str, statements_per_function: int = STATEMENTS_PER_FUNCTION) -> str:
    """A self-contained C99 translation unit that defines ``void name(const double *in, double *out)``.

    in and out hold the program's segments one after the other and must not overlap. ``name`` is a C identifier.
    """
    count = len(program.statements)
    parts = max(1, -(-count // statements_per_function))
    size = -(-count // parts)
    cuts = [(k * size, min((k + 1) * size, count)) for k in range(parts)]
    printer = _Printer()
    head = printer.doprint(_prototype(name, (_IN, _OUT)))
    lines = [f"/* in: {_layout(program.inputs)}; out: {_layout(program.outputs)} */", "#include <math.h>", ""]
    if parts == 1:
        whole = _Part(program, 0, count, {})
        return "\n".join([*lines, f"{head};", "", _function(printer, head, whole, (_IN, _OUT))])
    slots = _crossing(program, size)
    for k, (start, stop) in enumerate(cuts):
        part_head = printer.doprint(_prototype(f"{name}_{k}", (_IN, _OUT, _SCRATCH)))
        part = _Part(program, start, stop, slots)
        lines += [_function(printer, f"static {part_head}", part, (_IN, _OUT, _SCRATCH)), ""]
    calls = [f"   {name}_{k}(in, out, s);" for k in range(parts)]
    body = [f"   double s[{max(1, len(slots))}];", *calls]
    return "\n".join([*lines, f"{head};", "", f"{head} {{", *body, "}", ""])


def _prototype(name: str, arrays: Sequence[Any]) -> Any:
    return FunctionPrototype(
        void, name, [Pointer(a, type=real, attrs={value_const} if a is _IN else set()) for a in arrays]
    )


def _layout(segments: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name}[{size}]" for name, size in segments if size) or "nothing"


def _crossing(program: Program, size: int) -> dict[int, int]:
    """Slot in the handed-on array of every value that another function than its own uses."""
    first = program.first_statement
    slots: dict[int, int] = {}
    for index, (_, *args) in enumerate(program.statements):
        for a in args:
            if a >= first and (a - first) // size != index // size:
                slots.setdefault(a, len(slots))
    return slots


class _Part:
    """The statements ``start`` to ``stop`` of a program as declarations and assignments, each a node of SymPy's AST."""

    def __init__(self, program: Program, start: int, stop: int, slots: dict[int, int]) -> None:
        self.program = program
        self.slots = slots
        self.code: list[Any] = []
        self.symbols: dict[int, Any] = {}
        self.arrays: set[Any] = set()
        first, last = program.first_statement, stop == len(program.statements)
        for number, (op, *args) in enumerate(program.statements[start:stop], first + start):
            expression = _EXPRESSIONS[op](*[self.value(a) for a in args])
            symbol = self.declare(number, "t", expression)
            if number in slots:
                self.store(_SCRATCH, slots[number], symbol)
        for place, number in enumerate(program.results):
            if first + start <= number < first + stop or (last and number < first):
                self.store(_OUT, place, self.value(number))

    def declare(self, number: int, letter: str, value: Any) -> Any:
        symbol = self.symbols[number] = sp.Symbol(f"{letter}{number}")
        self.code.append(Declaration(Variable(symbol, type=real, value=value, attrs={value_const})))
        return symbol

    def store(self, array: Any, place: int, value: Any) -> None:
        self.arrays.add(array)
        self.code.append(Assignment(Element(array, (place,)), value))

    def load(self, array: Any, place: int) -> Any:
        self.arrays.add(array)
        return Element(array, (place,))

    def value(self, number: int) -> Any:
        """The symbol of a value, declared at its first use in this function."""
        if number in self.symbols:
            return self.symbols[number]
        program = self.program
        if number < program.input_size:
            return self.declare(number, "x", self.load(_IN, number))
        if number < program.first_statement:
            return self.declare(number, "c", sp.Float(program.constants[number - program.input_size]))
        return self.declare(number, "t", self.load(_SCRATCH, self.slots[number]))


def _function(printer: _Printer, head: str, part: _Part, arrays: Sequence[Any]) -> str:
    unused = [f"   (void){a};" for a in arrays if a not in part.arrays]
    code = printer.doprint(CodeBlock(*part.code)).splitlines() if part.code else []
    return "\n".join([f"{head} {{", *unused, *(f"   {line}" for line in code), "}", ""])


def export(dynamics: Dynamics, folder: str | Path) -> Path:
    """Write each function of :data:`EXPORTED` as a file, and the header; returns the folder.

    ModelError for a scene in which nothing moves.
    """
    if not dynamics.model.nv:
        raise ModelError(
            "nothing moves in this scene, so that there is no C to export; attach a body by a moving joint"
        )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name in EXPORTED:
        (target / f"{name}.c").write_text(c_source(dynamics.program(name), name), encoding="utf-8")
    (target / HEADER).write_text(_header(dynamics), encoding="utf-8")
    return target


def _header(dynamics: Dynamics) -> str:
    model = dynamics.model
    sizes = (("NQ", model.nq), ("NV", model.nv), ("NB", len(model.bodies)), ("NP", len(model.parameters)))
    text = [
        _comment(
            "Equations of motion, generated by recursive_dyn. Metres, kilograms, seconds, radians; twists and\n"
            "wrenches are angular first; a quaternion is x, y, z, w. Every function reads in, writes out, keeps\n"
            "nothing and may be called from several threads; in and out must not overlap. Link with -lm."
        ),
        "#ifndef RECURSIVE_DYN_MODEL_H\n#define RECURSIVE_DYN_MODEL_H\n",
        "".join(f"#define {name} {size}\n" for name, size in sizes),
        _listing("q: configuration coordinates", map(_plain, model.coordinate_names)),
        _listing("v, a, tau: velocity coordinates", (_plain(c.name) for c in model.coordinates)),
        _listing(
            "bodies, and what each one is rigidly on", (f"{_plain(b.name)}: {_link(b.link)}" for b in model.bodies)
        ),
        _listing("links, and their parents", (f"{_plain(k.name)}: {_link(k.parent)}" for k in model.links)),
        _listing("columns of screws", (f"link {link}, slot {slot} of v" for link, slot in columns(model))),
        _listing("parameters, and their initial values", (f"{_plain(p)}: {value!r}" for p, value in model.parameters)),
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        *(_entry(dynamics.program(name), FUNCTIONS[name].shape(model)) for name in EXPORTED),
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
    ]
    return "\n".join(t for t in text if t)


def _link(index: int) -> str:
    return "world" if index == WORLD else f"link {index}"


def _entry(program: Program, shape: tuple[int, ...]) -> str:
    name = program.name
    words = f"{EXPORTED[name]}\nin: {_layout(program.inputs)}\nout: {_layout(program.outputs)}"
    if len(shape) > 1:
        words += f" = {' x '.join(map(str, shape))}"
    return (
        f"{_comment(words)}#define {name.upper()}_IN {program.input_size}\n"
        f"#define {name.upper()}_OUT {program.output_size}\n"
        f"{_Printer().doprint(_prototype(name, (_IN, _OUT)))};\n"
    )


def _listing(title: str, entries: Iterable[str]) -> str:
    lines = [f"  {i} {entry}" for i, entry in enumerate(entries)]
    return _comment("\n".join([title, *lines])) if lines else ""


def _plain(name: str) -> str:
    """A user's name without anything that could end a comment or a line: letters, digits and a few marks are kept."""
    return "".join(c if c.isalnum() or c in " _.-" else "_" for c in name)


def _comment(text: str) -> str:
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in text.splitlines()), " */", ""])
