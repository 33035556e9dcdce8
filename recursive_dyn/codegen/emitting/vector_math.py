"""Sine and cosine of a whole SIMD vector, as LLVM IR text that needs no vector maths library.

Method:
- Reduction r = |x| - n pi/2, n = rint(|x| 2/pi), of W. J. Cody and W. Waite, "Software Manual for the Elementary
  Functions", Prentice-Hall 1980, with pi/2 as a sum of three doubles and r as an unevaluated sum hi + lo. Fused
  multiply-adds keep it exact without splitting pi/2 into short pieces: S. Boldo, M. Daumas and R.-C. Li, "Formally
  verified argument reduction with a fused multiply-add", IEEE Transactions on Computers 58(8), 2009.
- Minimax polynomials for |r| <= pi/4 and their use on hi + lo: fdlibm, `k_sin.c` and `k_cos.c`, Sun Microsystems 1993.
"""

import struct
from math import pi

LIMIT = 1e5  # from here on, |x| is left to the C library
_HALF_PI = (pi / 2, 6.123233995736766e-17, -1.4973849048591698e-33)  # sum within 6e-50 of pi/2
_ROUND = 1.5 * 2.0**52  # added to a double, it leaves the nearest integer in the low bits
_SIN = (  # (sin r - r) / r^3 in powers of r^2; relative error of sin r below 2^-57
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COS = (  # (cos r - 1 + r^2 / 2) / r^4 in powers of r^2; absolute error of cos r below 2^-59
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


class _Body:
    """The instructions of one function over vectors of `width` doubles (plain doubles at width 1), values numbered."""

    def __init__(self, width: int) -> None:
        self.width, self.lines = width, list[str]()
        self.real, self.bits, self.mask = (
            scalar if width == 1 else f"<{width} x {scalar}>" for scalar in ("double", "i64", "i1")
        )
        self.pair = f"{{ {self.real}, {self.real} }}"
        self.kind = "f64" if width == 1 else f"v{width}f64"

    def let(self, instruction: str) -> str:
        self.lines.append(f"  %t{len(self.lines)} = {instruction}")
        return f"%t{len(self.lines) - 1}"

    def op(self, opcode: str, a: str | float, b: str | float) -> str:
        kind = self.real if opcode.startswith("f") else self.bits
        return self.let(f"{opcode} {kind} {self.value(a)}, {self.value(b)}")

    def call(self, name: str, *arguments: str | float) -> str:
        listed = ", ".join(f"{self.real} {self.value(a)}" for a in arguments)
        return self.let(f"call {self.real} @llvm.{name}.{self.kind}({listed})")

    def to_bits(self, a: str) -> str:
        return self.let(f"bitcast {self.real} {a} to {self.bits}")

    def polynomial(self, z: str, z2: str, c: tuple[float, ...]) -> str:
        # Pairs in z, then Horner in z2 = z^2: nearly half the latency of Horner alone.
        *pairs, total = (self.call("fma", z, c[i + 1], c[i]) for i in range(0, len(c), 2))
        for pair in reversed(pairs):
            total = self.call("fma", total, z2, pair)
        return total

    def value(self, a: str | float) -> str:
        if isinstance(a, str):
            return a
        # Doubles in hexadecimal: LLVM rejects decimal literals that are not exact.
        kind, literal = ("i64", str(a)) if isinstance(a, int) else ("double", f"0x{struct.pack('>d', a).hex().upper()}")
        return literal if self.width == 1 else f"<{', '.join([f'{kind} {literal}'] * self.width)}>"

    def function(self, name: str, parameters: tuple[str, ...], sin: str, cos: str) -> str:
        """The text of the function whose last block returns (sin, cos)."""
        half = self.let(f"insertvalue {self.pair} poison, {self.real} {sin}, 0")
        both = self.let(f"insertvalue {self.pair} {half}, {self.real} {cos}, 1")
        # Without these attributes, CPUs that favour 256 bits would split the vectors.
        wide = ' "min-legal-vector-width"="512" "prefer-vector-width"="512"' if self.width >= 8 else ""
        head = f"define internal {self.pair} @{name}.v{self.width}({', '.join(f'{self.real} {p}' for p in parameters)})"
        return "\n".join([f"{head} noinline nounwind{wide} {{", *self.lines, f"  ret {self.pair} {both}", "}", ""])


def declarations(width: int) -> str:
    """What the text of `sincos_ir(width)` leaves undefined; the C library's two are the same at every width."""
    b = _Body(width)
    lines = [f"declare double @{name}(double)" for name in ("sin", "cos")]
    lines += [f"declare {b.real} @llvm.fabs.{b.kind}({b.real})"]
    lines += [f"declare {b.real} @llvm.fma.{b.kind}({b.real}, {b.real}, {b.real})"]
    lines += [f"declare i1 @llvm.vector.reduce.or.v{width}i1({b.mask})"] if width > 1 else []
    return "\n".join([*lines, ""])


def sincos_ir(width: int) -> str:
    """LLVM IR of `{V, V} @rd.sincos.vW(V x)`: the sine and cosine of every lane of x.

    V is <W x double>, or double if W = 1; x in rad. Error below 0.8 ulp for |x| < LIMIT; lanes beyond are as accurate
    as the C library. A lane's result depends, to the bit, neither on other lanes nor on W. Infinities and nans give
    nan; sin(-0) = -0. Method and sources: see the module.
    """
    b = _Body(width)
    a = b.call("fabs", "%x")
    shifted = b.call("fma", a, 2 / pi, _ROUND)
    n = b.op("fsub", shifted, _ROUND)
    quadrant = b.to_bits(shifted)

    # r is exact: below 1 and a multiple of 2^-53, unless n = 0. Being a multiple of ulp(head) too, it makes (r - hi) -
    # head exactly the rounding error of hi, even where r is smaller than head.
    r = b.call("fma", n, -_HALF_PI[0], a)
    head = b.op("fmul", n, _HALF_PI[1])
    hi = b.op("fsub", r, head)
    tail = b.call("fma", n, _HALF_PI[2], b.call("fma", n, _HALF_PI[1], b.let(f"fneg {b.real} {head}")))
    lo = b.op("fsub", b.op("fsub", b.op("fsub", r, hi), head), tail)

    z = b.op("fmul", hi, hi)
    z2 = b.op("fmul", z, z)
    w = b.call("fma", z, -0.5, 1.0)
    w_error = b.call("fma", z, -0.5, b.op("fsub", 1.0, w))
    # lo enters to first order: times w, nearly cos hi, in the sine and times -hi in the cosine.
    sin_tail = b.call("fma", b.op("fmul", z, hi), b.polynomial(z, z2, _SIN), b.op("fmul", lo, w))
    sin_r = b.op("fadd", hi, sin_tail)
    cos_tail = b.call("fma", z2, b.polynomial(z, z2, _COS), b.op("fsub", w_error, b.op("fmul", lo, hi)))
    cos_r = b.op("fadd", w, cos_tail)

    # Odd n swaps the two; bit 1 of n negates the sine, bit 1 of n + 1 the cosine. The sine is odd in x, including -0.
    odd = b.let(f"icmp ne {b.bits} {b.op('and', quadrant, 1)}, {b.value(0)}")
    sin_sign = b.op("xor", b.op("shl", quadrant, 62), b.to_bits("%x"))
    cos_sign = b.op("shl", b.op("add", quadrant, 1), 62)
    results = []
    for sign, even_n, odd_n in ((sin_sign, sin_r, cos_r), (cos_sign, cos_r, sin_r)):
        chosen = b.let(f"select {b.mask} {odd}, {b.real} {odd_n}, {b.real} {even_n}")
        signed = b.op("xor", b.to_bits(chosen), b.op("and", sign, -(2**63)))
        results.append(b.let(f"bitcast {b.bits} {signed} to {b.real}"))

    any_far = b.let(f"fcmp oge {b.real} {a}, {b.value(LIMIT)}")
    if width > 1:
        any_far = b.let(f"call i1 @llvm.vector.reduce.or.v{width}i1({b.mask} {any_far})")
    passed = ", ".join(f"{b.real} {value}" for value in ("%x", *results))
    b.lines += [f"  br i1 {any_far}, label %slow, label %fast", "slow:"]
    b.lines += [f"  %far = tail call {b.pair} @rd.sincos.far.v{width}({passed}) cold", f"  ret {b.pair} %far", "fast:"]
    return b.function("rd.sincos", ("%x",), *results) + _far_ir(width)


def _far_ir(width: int) -> str:
    # A function of its own, so that the fast path needs no stack frame for these calls.
    b = _Body(width)
    far = b.let(f"fcmp oge {b.real} {b.call('fabs', '%x')}, {b.value(LIMIT)}")
    results = []
    for name, near in (("sin", "%sin"), ("cos", "%cos")):
        value = near
        for lane in range(width):
            x = "%x" if width == 1 else b.let(f"extractelement {b.real} %x, i32 {lane}")
            y = b.let(f"call double @{name}(double {x})")
            value = y if width == 1 else b.let(f"insertelement {b.real} {value}, double {y}, i32 {lane}")
        results.append(b.let(f"select {b.mask} {far}, {b.real} {value}, {b.real} {near}"))
    return b.function("rd.sincos.far", ("%x", "%sin", "%cos"), *results)
