"""Formulas as text and LaTeX: brackets where they are needed and nowhere else; what is printed can be read."""

import re
from dataclasses import replace as fields
from functools import cache

import pytest
from formulas import R, e, formulas, g, l, m, q, rho, varied_scalars, x
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from reader import read

from demos.manifolds.gallery import SYSTEMS
from recursive_dyn.manifold import (
    cross,
    delta,
    derive,
    dot,
    dt,
    hat,
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)
from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.formula.calculus import replace
from recursive_dyn.manifold.normal.forms import formula
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.writing.compact import compact
from recursive_dyn.manifold.writing.terms import NO_ROLES, Roles

s, u = scalars("s u")
v, w = vectors("v w")
A, J = matrices("A"), symmetric_matrices("J")
FACTORS = (m, -m, m * g, -m * g, 2 * m * g, l * m, (m + l), (m + l) * g, s * m, -(m + l) / 2, 2 * l)
ATOMS = (dt(x, 2), e, rho, dt(q, 2), x, dt(x))
COUNTED = settings(max_examples=80)
PARSER = MathTextParser("path")


@pytest.mark.parametrize(
    ("written", "text", "latex"),
    [
        (s + u - m, "s + u - m", "s + u - m"),
        (-s * u, "-s u", "-s u"),
        (-(v + w), "-(v + w)", r"-\left( v + w \right)"),
        (v - (w - v), "v - (w - v)", r"v - \left( w - v \right)"),
        (1 - s, "1 - s", "1 - s"),
        (2 * v / 3, "2/3 v", r"\frac{2}{3} v"),
        (m - 0.5, "m - 1/2", r"m - \frac{1}{2}"),
        (m**-2 * s, "m^(-2) s", "m^{-2} s"),
        ((m - 1) ** 3, "(m - 1)^3", r"\left( m - 1 \right)^{3}"),
        ((s * u) ** 2, "s^2 u^2", "s^{2} u^{2}"),
        (dt(s) ** 2, "s'^2", r"\dot{s}^{2}"),
        ((s + 1) * v, "(s + 1) v", r"\left( s + 1 \right) v"),
        ((s + u) * (s - u) * v, "(s + u) (s - u) v", r"\left( s + u \right) \left( s - u \right) v"),
        (dot(v, w), "v.w", r"v \cdot w"),
        (dot(-v, w), "(-v).w", r"\left( -v \right) \cdot w"),
        (dot(v + w, v - w), "(v + w).(v - w)", r"\left( v + w \right) \cdot \left( v - w \right)"),
        (s * dot(v, w), "s v.w", r"s v \cdot w"),
        (dot(v, w) * v, "(v.w) v", r"\left( v \cdot w \right) v"),
        (dot(v, w) ** 2, "(v.w)^2", r"\left( v \cdot w \right)^{2}"),
        (dot(v, v), "|v|^2", r"\left\| v \right\|^{2}"),
        (dot(v + w, v + w), "|v + w|^2", r"\left\| v + w \right\|^{2}"),
        (dot(v, cross(v, w)), "v.(v x w)", r"v \cdot \left( v \times w \right)"),
        (cross(cross(v, w), v), "(v x w) x v", r"\left( v \times w \right) \times v"),
        (cross(v, cross(w, v)), "v x (w x v)", r"v \times \left( w \times v \right)"),
        (cross(v, -w), "v x (-w)", r"v \times \left( -w \right)"),
        (s * cross(v, w), "s v x w", r"s v \times w"),
        (cross(v, s * w), "v x (s w)", r"v \times \left( s w \right)"),
        (cross(A * v, J * w), "A v x J w", r"A v \times J w"),
        (A * cross(v, w), "A (v x w)", r"A \left( v \times w \right)"),
        (dot(R * v, A * w), "(R v).A w", r"\left( R v \right) \cdot A w"),
        (2 * A * v, "2 A v", "2 A v"),
        ((A + R) * v, "(A + R) v", r"\left( A + R \right) v"),
        (A * (R * v), "A R v", "A R v"),
        ((A * R).T * v, "(A R)^T v", r"\left( A R \right)^{T} v"),
        (J.T * v, "J v", "J v"),
        (A.T.T * v, "A v", "A v"),
        (hat(v) * w, "hat(v) w", r"\widehat{v} w"),
        (hat(v + w).T * w, "hat(v + w)^T w", r"\widehat{v + w}^{T} w"),
        (0 * v, "0", "0"),
    ],
)
def test_brackets(written, text, latex):
    assert (str(written), written.latex()) == (text, latex)


@pytest.mark.parametrize("order", range(6))
def test_derivatives(order):
    text = ["q", "q'", "q''", "q'''", "q^(4)", "q^(5)"]
    latex = ["q", r"\dot{q}", r"\ddot{q}", r"\dddot{q}", "q^{(4)}", "q^{(5)}"]
    numbered = ["q_{1}", r"\dot{q}_{1}", r"\ddot{q}_{1}", r"\dddot{q}_{1}", "q_{1}^{(4)}", "q_{1}^{(5)}"]
    assert (str(dt(q, order)), dt(q, order).latex()) == (text[order], latex[order])
    assert dt(unit_vectors("q1"), order).latex() == numbered[order]
    assert (str(dt(delta(q), order)), dt(delta(q), order).latex()) == ("δ" + text[order], r"\delta " + latex[order])


@pytest.mark.parametrize(
    ("name", "latex"),
    {
        "m": "m",
        "tau": r"\tau",
        "tau1": r"\tau_{1}",
        "tau_12": r"\tau_{12}",
        "mQ": "m_{Q}",
        "xL": "x_{L}",
        "Om": r"\Omega",
        "Om2": r"\Omega_{2}",
        "OmL": r"\Omega_{L}",
        "lam": r"\lambda",
        "lambda": r"\lambda",
        "e3": "e_{3}",
        "R1": "R_{1}",
        "x_load": r"x_{\mathrm{load}}",
        "xi": r"\xi",
        "eta1": r"\eta_{1}",
        "theta": r"\theta",
        "Theta": r"\Theta",
        "psi": r"\psi",
        "pi": r"\pi",
        "speed": r"\mathit{speed}",
        "top_speed": r"\mathit{top\_speed}",
    }.items(),
)
def test_names(name, latex):
    assert scalars(name).latex() == latex and str(scalars(name)) == name


def test_companions_of_a_variable_have_its_number():
    q1, Rb = unit_vectors("q1"), rotations("R_b")
    assert [str(s) for s in (q1.virtual, Rb.rate, Rb.virtual)] == ["xi1", "Omega_b", "eta_b"]
    assert str(unit_vectors("n").virtual) == "xi_n"


@COUNTED
@given(formulas() | varied_scalars())
@example(dot(x, x) ** 2)
@example(dt(s, 4) ** 3)
def test_what_is_printed_reads_as_what_was_meant(f):
    for written in (f, formula(normal(f), f.shape)):
        written = renamed(written)
        assert equal(read(str(written), written), written, 1)


def renamed(f):
    """z for x, which is the sign of cross products as well."""
    return replace(f, lambda s: type(s)(fields(s.base, name="z"), s.order, s.is_variation) if s.base.name == "x" else s)


@COUNTED
@given(formulas() | varied_scalars())
def test_compact_forms_mean_the_same(f):
    for roles in (NO_ROLES, Roles(q, (q, x, R), frozenset({w.base})), Roles(R, (q, x, R)), Roles(x, (q, x, R))):
        assert equal(compact(normal(f), f.shape, roles), f, 1)


@COUNTED
@given(st.lists(st.tuples(st.sampled_from(FACTORS), st.sampled_from(ATOMS)), max_size=6))
def test_sums_of_accelerations_and_fields_mean_the_same(terms):
    """m (x'' + g e3) - ...: what a uniform field shares with an acceleration."""
    f = sum((factor * atom for factor, atom in terms), start=0 * x)
    for form in (f, cross(q, f), R.T * f, cross(rho, R.T * f)):
        written = compact(normal(form), form.shape, Roles(q, (q, x, R), frozenset()))
        assert equal(written, form, 1)


def test_fields_join_accelerations():
    """One field of each direction at most, and only where the rest of the coefficient is the same."""
    roles = Roles(x, (x,), ranks={c.base: i for i, c in enumerate((m, l, g, x, e, rho))})
    for f, text in (
        (m * dt(x, 2) + m * g * e, "m (x'' + g e)"),
        (m * dt(x, 2) - m * g * e, "m (x'' - g e)"),
        (m * g * e - m * dt(x, 2), "-m (x'' - g e)"),
        ((m + l) * (g * e + dt(x, 2)), "(m + l) (x'' + g e)"),
        (m * dt(x, 2) + 2 * m * g * e, "m x'' + 2 m g e"),
        (m * dt(x, 2) + l * g * e, "m x'' + l g e"),
        (m * dt(x, 2) + m * g * e + l * g * rho, "m (x'' + g e) + l g rho"),
    ):
        assert str(compact(normal(f), (3,), roles)) == text


@COUNTED
@given(formulas() | varied_scalars())
def test_no_bracket_is_idle(f):
    """None around all, around another, or around a symbol that is neither an argument nor an exponent."""
    text = re.sub(r"\^\(-?\d+\)", "", str(f)).replace("hat(", "hat ")
    assert not _encloses(text) and not re.search(r"\(\w+'*\)", text)
    assert not re.search(r"\(\([^()]*\)\)", text)


def _encloses(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1 and text[0] == "("
    return False


@COUNTED
@given(formulas() | varied_scalars())
@example(dot(x, x) ** 2)
@example(dt(s, 4) ** 3)
@example(dt(A, 4).T * dt(v, 5))
def test_latex_is_typeset(f):
    typeset(f.latex())


@cache
def typeset(latex):
    """Lengths of what is drawn; mathtext refuses what is no LaTeX: unbalanced braces, double superscripts."""
    assert len(latex) > 5000 or PARSER.parse(f"${latex}$", 72, FontProperties())


LONG = ("chain", "reaction_mass", "walker_flight")  # more of the same signs


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in SYSTEMS])
def test_equations_and_steps_are_typeset(name):
    found = SYSTEMS[name]().derive()
    for shown in (*found.rows, *found.steps, *found.constraints):
        typeset(shown.latex())
        assert re.fullmatch(r"\$[^$]+\$", shown._repr_latex_())
    lines = found.latex().splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{aligned}", r"\end{aligned}")
    for line in lines[1:-1]:
        assert line.count("&=") == 1
        typeset(line.removesuffix(r" \\").replace("&=", "="))
    assert all(line.endswith(r" \\") for line in lines[1:-2])
    plain = [line.removesuffix(r" \\").replace("&=", "=") for line in lines[1:-1]]
    explained = [f"{name.latex()} = {name.base.definition.latex()}" for name in found.definitions]
    assert plain == [*(row.latex() for row in found.rows), *(f"{c.latex()} = 0" for c in found.constraints), *explained]
    assert found._repr_latex_().startswith("$") and found._repr_latex_().endswith("$")


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_printed_row_reads_as_the_row(name):
    for row in SYSTEMS[name]().derive().rows:
        written = renamed(row.row)
        assert equal(read(str(written), written), written, 1)
        assert str(row) == f"{row.row} = 0"


def test_equations_in_latex():
    rows = r"""
J_{1} \dot{\Omega}_{1} + \Omega_{1} \times J_{1} \Omega_{1}
m_{2} \lambda \times R_{1}^{T} \left( \ddot{x}_{2} + g e_{3} \right)
m_{1} g \rho_{1} \times R_{1}^{T} e_{3}
- M_{1} &= 0 \\
J_{2} \dot{\Omega}_{2} + \Omega_{2} \times J_{2} \Omega_{2}
m_{2} \rho_{2} \times R_{2}^{T} \left( \ddot{x}_{2} + g e_{3} \right) - M_{2} &= 0 \\
x_{2} &= R_{1} \lambda + R_{2} \rho_{2}"""
    found = SYSTEMS["double_3d"]().derive().latex()
    assert all(part in found for part in rows.strip().splitlines())
    assert SYSTEMS["spherical"]().derive().rows[0].latex() == (
        r"q \times \left( m l^{2} \ddot{q} + m g l e_{3} - \tau \right) = 0"
    )


def test_integrands_of_one_term():
    """A sum is bracketed, and so is what begins with a sign."""
    found = derive(-m * dot(v, v) / 2, None, v)
    assert [str(step) for step in found.steps[:2]] == ["S = ∫ (-1/2 m |v|^2) dt", "δS = ∫ (-m δv.v) dt = 0"]
    assert str(derive(m * dot(v, w), None, v, prescribed=[w]).steps[0]) == "S = ∫ m v.w dt"


def test_a_row_divides_what_applied_forces_share():
    """By constants only; rows without forces keep theirs."""
    forced = derive(m * dot(dt(v), dt(v)) / 2 - m * l * dot(v, w), m * dot(delta(v), u * w), v, prescribed=[w])
    assert str(forced[v]) == "v'' + l w - u w = 0"
    free = derive(m * dot(dt(v), dt(v)) / 2 - m * l * dot(v, w), None, v, prescribed=[w])
    assert str(free[v]) == "m v'' + m l w = 0" or str(free[v]) == "m (v'' + l w) = 0"
