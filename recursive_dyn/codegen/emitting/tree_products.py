"""Loops over pairs of coordinates of which one hangs on the other, as LLVM IR text: products of columns, solves with M.

Columns come in blocks of a register's width of lanes, component after component. Coordinates are in the order of a walk
through the tree, so that all that hangs on one follows it: i + 1, i + 2, ... below its end.

M = L^T D L is factored row after row from the last: R_i = M_i - sum of L_ki R_k over all k that hang on i, D_i = R_ii
and L_ki = R_ki / D_k. Right-hand sides are reduced alike, c_i = X_i - sum of L_ki c_k, and then solved for from the
first: x_i = (c_i - sum of R_ij x_j over all j that i hangs on) / D_i (Featherstone 2005, Efficient factorization of the
joint-space inertia matrix for branched kinematic trees).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from recursive_dyn.codegen.emitting.ir_text import attributes, counted, load, place
from recursive_dyn.codegen.emitting.transposing import shuffle_block
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.making.cache import key_of, source_fingerprint

_LINE = 8  # doubles of a line of the cache
_MOST = 8  # registers that are summed up side by side, as many as hide the time that one sum takes
GATHER, SCATTER, ROW, FACTOR, SOLVE = "rd_gather", "rd_scatter", "rd_row", "rd_factor", "rd_solve"

# components of a column: see recursion.motion_derivatives
_J, _ALPHA, _BETA, _GAMMA, _MOMENTUM, _BACK, _BY_Q, _BY_V, _COLUMN = 0, 6, 9, 15, 21, 27, 30, 36, 42
# of each product: (first component of the row's own column, of the others', how many), summed
_PRODUCTS = (
    ((_J, _BY_Q, 6),),
    ((_BETA, _MOMENTUM, 6), (_ALPHA, _BACK, 3)),
    ((_J, _BY_V, 6),),
    ((_GAMMA, _MOMENTUM, 6), (_J, _BACK, 3)),
    ((_J, _MOMENTUM, 6),),
)
WIDE = len(_PRODUCTS)


def panel(columns: int) -> int:
    """How many registers of a row of so many numbers are computed at once: equal panels, as few as can be."""
    registers = max(1, -(-columns // jit.vector_width()))
    return -(-registers // -(-registers // _MOST))


def padded_columns(columns: int) -> int:
    """How many numbers a row of whole panels has."""
    step = panel(columns) * jit.vector_width()
    return -(-columns // step) * step


def apart(size: int) -> int:
    """How far rows of so many numbers are to be apart: an odd number of cache lines, which then have places apart."""
    return (-(-size // _LINE) | 1) * _LINE


def products(columns: int, sides: int) -> jit.Native:
    """The machine code for so many columns: exchanges with lanes, products, and solves of so many right-hand sides."""
    return _made(jit.vector_width(), panel(columns), panel(sides))


@lru_cache(maxsize=_MOST * _MOST)
def _made(width: int, mass: int, sides: int) -> jit.Native:
    """For rows of so many registers a panel, of M and of right-hand sides."""
    text = "\n".join([_exchange(GATHER, True), _exchange(SCATTER, False), _row(), _factor(mass), _solve(sides)])
    key = key_of("tree products", text, jit.environment(), source_fingerprint())
    return jit.native(key, lambda: jit.compile_modules([text]))


def _kind() -> str:
    return f"<{jit.vector_width()} x double>"


def _spread(name: str, value: str) -> str:
    """%name: a register full of one number."""
    return f"""  %{name}.t = insertelement {_kind()} poison, double {value}, i32 0
  %{name} = shufflevector {_kind()} %{name}.t, {_kind()} poison, <{jit.vector_width()} x i32> zeroinitializer"""


def _loaded(name: str, base: str, count: int) -> str:
    """%name0 ...: registers from an address on."""
    return "\n".join(load(f"{name}{r}", _kind(), base, r * jit.vector_width(), "double") for r in range(count))


def _stored(name: str, base: str, count: int) -> str:
    return "\n".join(
        f"{place(f'{name}{r}.to', 'double', base, r * jit.vector_width())}\n"
        f"  store {_kind()} %{name}{r}, ptr %{name}{r}.to, align 8"
        for r in range(count)
    )


def _less(result: str, a: str, factor: str, b: str, count: int) -> str:
    """%result = %a - %factor %b, register by register."""
    return "\n".join(
        f"  %{result}{r}.m = fmul contract {_kind()} %{factor}, %{b}{r}\n"
        f"  %{result}{r} = fsub contract {_kind()} %{a}{r}, %{result}{r}.m"
        for r in range(count)
    )


def _row_at(name: str, base: str, row: str, size: str) -> str:
    """%name: the address of a row of ``size`` numbers."""
    return f"  %{name}.first = mul i64 {row}, {size}\n{place(name, 'double', base, f'%{name}.first')}"


def _exchange(name: str, reading: bool) -> str:
    """NAME(rows, starts, length, lanes): rows of numbers, a lane each, into a block of lanes, or back.

    starts: where each begins; up to a register more than ``length`` is read and written of each.
    """
    width, arguments = jit.vector_width(), "ptr noalias %rows, ptr noalias %starts, i64 %length, ptr noalias %d"
    heads = [
        f"{load(f's{l}', 'i64', '%starts', l)}\n{place(f'b{l}', 'double', '%rows', f'%s{l}')}" for l in range(width)
    ]
    return f"""define void @{name}({arguments}) nounwind{attributes(width)} {{
entry:
{chr(10).join(heads)}
{counted("j", "%length", shuffle_block(width, reading), step=width)}
  ret void
}}
"""


def _row() -> str:
    """rd_row(i, end, size, columns, row, squares): products of the column i with all of i, i + 1, ... below its end.

    row: ``WIDE`` times ``size`` doubles, an entry a column, of whole blocks: dtau_i / dq_k, dtau_k / dq_i,
    dtau_i / dv_k, dtau_k / dv_i and M_ik. squares: a register to which theirs are added.
    """
    width, kind = jit.vector_width(), _kind()
    own = []
    for c in sorted({own + c for terms in _PRODUCTS for own, _, count in terms for c in range(count)}):
        own += [load(f"s{c}", "double", "%own", c * width), _spread(f"o{c}", f"%s{c}")]
    carried = tuple((f"q{k}", kind, "zeroinitializer", f"%sum{k}") for k in range(WIDE))
    adding = "\n".join(f"  %z{k + 1} = fadd {kind} %z{k}, %q{k}" for k in range(WIDE))
    arguments = _arguments("i end size", ("columns", "row", "squares"))
    return f"""define void @{ROW}({arguments}) nounwind{attributes(width)} {{
entry:
  %first = udiv i64 %i, {width}
  %lane = urem i64 %i, {width}
  %block.at = mul i64 %first, {_COLUMN * width}
  %own.at = add i64 %block.at, %lane
{place("own", "double", "%columns", "%own.at")}
{chr(10).join(own)}
  %up = add i64 %end, {width - 1}
  %last = udiv i64 %up, {width}
{counted("b", "%last", _block(), first="%first", carried=carried)}
{load("z0", kind, "%squares", 0)}
{adding}
  store {kind} %z{WIDE}, ptr %squares, align 8
  ret void
}}
"""


def _block() -> str:
    """Products of %own with the block %b, into %row."""
    width, kind = jit.vector_width(), _kind()
    body = [_row_at("block", "%columns", "%b", str(_COLUMN * width))]
    for c in sorted({other + c for terms in _PRODUCTS for _, other, count in terms for c in range(count)}):
        body.append(load(f"x{c}", kind, "%block", c * width, "double"))
    body.append(f"  %at = mul i64 %b, {width}")
    for k, terms in enumerate(_PRODUCTS):
        total = ""
        for own, other, count in terms:
            for c in range(count):
                name = f"{k}.{own + c}"
                body.append(f"  %m{name} = fmul contract {kind} %o{own + c}, %x{other + c}")
                if total:
                    body.append(f"  %a{name} = fadd contract {kind} {total}, %m{name}")
                total = f"%{'a' if total else 'm'}{name}"
        body += [
            _row_at(f"row{k}", "%row", str(k), "%size"), place(f"to{k}", "double", f"%row{k}", "%at"),
            f"  store {kind} {total}, ptr %to{k}, align 8", f"  %sq{k} = fmul contract {kind} {total}, {total}",
            f"  %sum{k} = fadd contract {kind} %q{k}, %sq{k}",
        ]  # fmt: skip
    return "\n".join(body)


def _inward(count: int, x: str, size: str, after: str, negative: bool) -> str:
    """%c0 ...: registers at %x.i, or their negatives, less L_ki times those of all rows k that hang on %i."""
    body = f"""{_row_at("rk", "%r", "%k", "%size")}
{load("rki", "double", "%rk", "%i")}
{load("invk", "double", "%inverse", "%k")}
  %lki = fmul double %rki, %invk
{_spread("l", "%lki")}
{_row_at("xk", x, "%k", size)}
{_loaded("y", "%xk", count)}
{_less("n", "c", "l", "y", count)}"""
    carried = tuple((f"c{k}", _kind(), f"%w{k}", f"%n{k}") for k in range(count))
    start = "\n".join(f"  %w{k} = fneg {_kind()} %v{k}" for k in range(count)) if negative else ""
    return f"""{_loaded("v" if negative else "w", "%x.i", count)}
{start}
{counted("k", "%end", body, after=after, first="%i.1", carried=carried)}"""


def _factor(count: int) -> str:
    """rd_factor(size, n, R, inverse, ends): the lower half of M (n, size), of whole panels, becomes R, inverse (n,)
    1 / D. ends (n,): where what hangs on each ends.
    """
    panel = f"""{place("m", "double", "%r", "%p")}
{_row_at("x.i", "%m", "%i", "%size")}
{_inward(count, "%m", "%size", "p.body", False)}
{_stored("c", "%x.i", count)}"""
    row = f"""  %i = sub i64 %last, %back
{load("end", "i64", "%ends", "%i")}
  %i.1 = add i64 %i, 1
{counted("p", "%i.1", panel, after="back.body", step=count * jit.vector_width())}
{_row_at("ri", "%r", "%i", "%size")}
{load("d", "double", "%ri", "%i")}
  %over = fdiv double 1.0, %d
{place("over.p", "double", "%inverse", "%i")}
  store double %over, ptr %over.p, align 8"""
    arguments = _arguments("size n", ("r", "inverse", "ends"))
    return f"""define void @{FACTOR}({arguments}) nounwind{attributes(jit.vector_width())} {{
entry:
  %last = sub i64 %n, 1
{counted("back", "%n", row)}
  ret void
}}
"""


def _arguments(counts: str, pointers: Sequence[str]) -> str:
    return ", ".join([*(f"i64 %{name}" for name in counts.split()), *(f"ptr noalias %{name}" for name in pointers)])


def _solve(count: int) -> str:
    """rd_solve(columns, wide, size, n, X, R, inverse, ends, parents, squares): X (n, wide), of which ``columns`` are of
    whole panels, becomes -M^-1 X; a register of squares of it is added to ``squares``.

    parents (n,): what each coordinate hangs on next, or -1.
    """
    width, kind = jit.vector_width(), _kind()
    inward = f"""  %i = sub i64 %last, %back
{load("end", "i64", "%ends", "%i")}
  %i.1 = add i64 %i, 1
{_row_at("x.i", "%x", "%i", "%wide")}
{_inward(count, "%x", "%wide", "back.body", True)}
{_stored("c", "%x.i", count)}"""
    phis = "\n".join(f"  %e{k} = phi {kind} [ %u{k}, %h.body ], [ %f{k}, %chain ]" for k in range(count))
    solved = "\n".join(f"  %z{k} = fmul contract {kind} %e{k}, %dv" for k in range(count))
    squares = [f"  %zz{k} = fmul contract {kind} %z{k}, %z{k}" for k in range(count)]
    squares += [f"  %q{k + 1} = fadd contract {kind} %q{k}, %zz{k}" for k in range(count)]
    outward = f"""{_row_at("xh", "%x", "%h", "%wide")}
{_row_at("rh", "%r", "%h", "%size")}
{_loaded("u", "%xh", count)}
{load("first", "i64", "%parents", "%h")}
  br label %up
up:
  %j = phi i64 [ %first, %h.body ], [ %next, %chain ]
{phis}
  %some = icmp sge i64 %j, 0
  br i1 %some, label %chain, label %ready
chain:
{load("rhj", "double", "%rh", "%j")}
{_spread("rv", "%rhj")}
{_row_at("xj", "%x", "%j", "%wide")}
{_loaded("g", "%xj", count)}
{_less("f", "e", "rv", "g", count)}
{load("next", "i64", "%parents", "%j")}
  br label %up
ready:
{load("d", "double", "%inverse", "%h")}
{_spread("dv", "%d")}
{solved}
{_stored("z", "%xh", count)}
{chr(10).join(squares)}"""
    whole = f"""{place("x", "double", "%whole", "%p")}
{counted("back", "%n", inward, after="p.body")}
{counted("h", "%n", outward, after="back.done", carried=(("q0", kind, "%sum", f"%q{count}"),))}"""
    pointers = ("whole", "r", "inverse", "ends", "parents", "squares")
    return f"""define void @{SOLVE}({_arguments("columns wide size n", pointers)}) nounwind{attributes(width)} {{
entry:
  %last = sub i64 %n, 1
{load("start", kind, "%squares", 0)}
{counted("p", "%columns", whole, step=count * width, carried=(("sum", kind, "%start", "%q0"),))}
  store {kind} %sum, ptr %squares, align 8
  ret void
}}
"""
