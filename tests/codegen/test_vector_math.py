"""The vectorised sine and cosine against mpmath, compiled at every width."""

import ctypes
import math
from functools import cache

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from recursive_dyn.codegen.emitting.vector_math import LIMIT, declarations, sincos_ir

WIDTHS = (1, 2, 4, 8)
TOLERANCE = 0.8  # ulp

# Calls the function under test on consecutive blocks of n doubles, n a multiple of the width.
LOOP = """
define void @sweep(ptr %x, ptr %s, ptr %c, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %px = getelementptr double, ptr %x, i64 %i
  %ps = getelementptr double, ptr %s, i64 %i
  %pc = getelementptr double, ptr %c, i64 %i
  %v = load VECTOR, ptr %px, align 8
  %r = call { VECTOR, VECTOR } @rd.sincos.vWIDTH(VECTOR %v)
  %rs = extractvalue { VECTOR, VECTOR } %r, 0
  %rc = extractvalue { VECTOR, VECTOR } %r, 1
  store VECTOR %rs, ptr %ps, align 8
  store VECTOR %rc, ptr %pc, align 8
  %j = add i64 %i, WIDTH
  %more = icmp ult i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@cache
def compiled(width):
    """The engine, which owns the code, and the address of `sweep`."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    vector = "double" if width == 1 else f"<{width} x double>"
    loop = LOOP.replace("VECTOR", vector).replace("WIDTH", str(width))
    module = llvm.parse_assembly(declarations(width) + sincos_ir(width) + loop)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, engine.get_function_address("sweep")


def sincos(width, x):
    x = np.ascontiguousarray(x, dtype=float)
    assert len(x) % width == 0
    s, c = np.empty_like(x), np.empty_like(x)
    sweep = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    sweep(compiled(width)[1])(x.ctypes.data, s.ctypes.data, c.ctypes.data, len(x))
    return s, c


def largest_error(x, s, c):
    """In units in the last place of the exact value."""
    with mp.workprec(140):
        return max(
            float(abs(mpf(value) - exact)) / math.ulp(float(exact))
            for xi, *pair in zip(x.tolist(), s.tolist(), c.tolist(), strict=True)
            for value, exact in zip(pair, mp.cos_sin(mpf(xi))[::-1], strict=True)
        )


def bits(values):
    return [np.ascontiguousarray(v).view(np.int64).tolist() for v in values]


def multiples(of, step):
    """The doubles nearest to multiples of `of` below LIMIT, with a neighbour on either side."""
    with mp.workprec(140):
        x = np.array([float(k * of) for k in range(1, int(LIMIT / of), step)])
    x = np.concatenate([x, np.nextafter(x, 0), np.nextafter(x, np.inf), -x])
    return x[: len(x) // 8 * 8]


with mp.workprec(140):
    HALF_PI = +mp.pi / 2
RNG = np.random.default_rng(1)
ARGUMENTS = {
    "first octant": RNG.uniform(-0.8, 0.8, 4000),
    "a few turns": RNG.uniform(-50, 50, 4000),
    "full range": RNG.uniform(-LIMIT, LIMIT, 4000),
    "every magnitude": np.exp(RNG.uniform(-744, math.log(LIMIT), 4000)),
    "zeros": multiples(HALF_PI, 37),
    # The multiples of pi/2 below LIMIT that come closest to a double, 29 pi/2 within 6e-19.
    "closest zeros": np.array([float(29 * 2**k * HALF_PI) for k in range(8)]),
    "octant borders": multiples(HALF_PI / 2, 75),
    "below the limit": np.nextafter(LIMIT, 0) - np.arange(64) * math.ulp(LIMIT / 2),
    "beyond the limit": LIMIT + np.arange(64) * math.ulp(LIMIT),
    "far beyond": np.exp(RNG.uniform(math.log(LIMIT), 709, 800)) * RNG.choice([-1, 1], 800),
}


@pytest.mark.parametrize("x", ARGUMENTS.values(), ids=ARGUMENTS)
def test_accurate_and_the_same_at_every_width(x):
    results = {width: sincos(width, x) for width in WIDTHS}
    assert largest_error(x, *results[8]) < TOLERANCE
    for width in WIDTHS:
        assert bits(results[width]) == bits(results[8])


@given(st.lists(st.floats(-LIMIT, LIMIT), min_size=8, max_size=8))
@settings(max_examples=200, deadline=None)
def test_accurate_on_any_float_below_the_limit(x):
    x = np.array(x)
    assert largest_error(x, *sincos(8, x)) < TOLERANCE


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=8, max_size=8), st.sampled_from(WIDTHS))
@settings(max_examples=200, deadline=None)
def test_lanes_on_either_side_of_the_limit_do_not_disturb_each_other(x, width):
    x = np.array(x)
    s, c = sincos(width, x)
    assert largest_error(x, s, c) < TOLERANCE
    assert bits((s, c)) == bits(sincos(1, x))


@pytest.mark.parametrize("width", WIDTHS)
def test_each_lane_takes_the_slow_path_alone(width):
    near = RNG.uniform(-LIMIT, LIMIT, (800, width))
    expected = [v.reshape(-1, width) for v in sincos(width, near.ravel())]
    for lane in range(width):
        x = near.copy()
        x[:, lane] = -1e22
        s, c = (v.reshape(-1, width) for v in sincos(width, x.ravel()))
        assert (s[:, lane] == math.sin(-1e22)).all() and (c[:, lane] == math.cos(1e22)).all()
        others = np.arange(width) != lane
        assert bits(v[:, others] for v in (s, c)) == bits(v[:, others] for v in expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_special_values(width):
    smallest, normal = 5e-324, 2.0**-1022
    odd = [0.0, smallest, 3 * smallest, normal - smallest, normal, 1e-200, 1e-20, 1e-9]
    x = np.array(odd + [-v for v in odd])
    s, c = sincos(width, x)
    assert bits([s]) == bits([x])  # with the sign of zero
    assert (c == 1.0).all()

    x = np.array([math.inf, 1.0, -math.inf, 2.0, math.nan, 3.0, -math.nan, 1e6])
    s, c = sincos(width, x)
    assert np.isnan(s[[0, 2, 4, 6]]).all() and np.isnan(c[[0, 2, 4, 6]]).all()
    assert largest_error(x[1::2], s[1::2], c[1::2]) < TOLERANCE


def test_widths_can_share_a_module():
    defined = "".join(sincos_ir(width) for width in WIDTHS)
    declared = dict.fromkeys(line for width in WIDTHS for line in declarations(width).splitlines())
    llvm.parse_assembly("\n".join(declared) + "\n" + defined).verify()
