"""Slips of a person's that would give wrong equations silently: hidden velocities, names given twice, wrong steps."""

import copy
import pickle

import numpy as np
import pytest

from recursive_dyn.errors import ModelError, OperandError
from recursive_dyn.manifold import (
    action,
    cross,
    define,
    delta,
    derive,
    dt,
    extract,
    integrate_by_parts,
    rotations,
    same_equations,
    scalars,
    simplify,
    unit_vectors,
    variation,
    vectors,
)
from recursive_dyn.manifold.comparison.same_equations import difference
from recursive_dyn.manifold.normal.normal_form import normal

m, r, j = scalars("m r j", constant=True)
e1, e3 = vectors("e1 e3", constant=True)
x, F = vectors("x F")
q, R = unit_vectors("q"), rotations("R")
ROLLING = m * dt(x).dot(dt(x)) / 2 + j * R.rate.dot(R.rate) / 2


def rolling(constraint):
    return derive(ROLLING, None, (x, R), constraints=[constraint])


class TestHiddenVelocities:
    plain = rolling(dt(x) - (R * R.rate).cross(r * e3))

    @pytest.mark.parametrize(
        "constraint",
        [
            define("v", dt(x)) - (R * R.rate).cross(r * e3),
            dt(x) - define("w", R * R.rate).cross(r * e3),
            define("u", dt(x) - (R * R.rate).cross(r * e3)),
        ],
        ids=["velocity", "spin", "slip"],
    )
    def test_a_velocity_by_a_name_keeps_its_reaction(self, constraint):
        named = rolling(constraint)
        assert same_equations(self.plain, named)
        assert all("lambda" in str(row) for row in named)
        named.compile()

    def test_a_point_by_its_name_stays_in_the_rows(self):
        c = define("c", x + R * e1)
        found = derive(m * dt(c).dot(dt(c)) / 2 + ROLLING, None, (x, R), constraints=[dt(c).dot(e3)])
        assert "c''" in str(found["x"])
        assert same_equations(
            found, derive(m * dt(c).dot(dt(c)) / 2 + ROLLING, None, (x, R), constraints=[dt(x + R * e1).dot(e3)])
        )

    @pytest.mark.parametrize("bad", [lambda v: dt(v) - r * e3, lambda v: v.dot(dt(x)), lambda v: v.dot(v)])
    def test_accelerations_and_squares_by_a_name_are_refused(self, bad):
        with pytest.raises(ModelError, match="linear in velocity"):
            rolling(bad(define("v", dt(x))))

    def test_work_on_a_velocity_by_a_name_is_refused(self):
        with pytest.raises(ModelError, match="of a velocity"):
            derive(ROLLING, delta(define("v", dt(x))).dot(F), (x, R))

    def test_prescribed_motion_in_a_constraint_does_no_virtual_work(self):
        p = vectors("p")
        moving = derive(ROLLING, None, (x, R), [dt(x) - dt(p)], prescribed=p)
        assert str(moving["R"]) == "j Omega' = 0"
        assert str(moving["x"]) == "m x'' - lambda = 0"

    def test_a_prescribed_rotation_brings_its_omega(self):
        arm = define("arm", x + R * e1)
        found = derive(m * dt(arm).dot(dt(arm)) / 2, None, x, prescribed=R)
        assert str(found["x"]) == "m arm'' = 0"
        by_hand = m * (dt(x, 2) + R * (dt(R.rate).cross(e1) + R.rate.cross(R.rate.cross(e1))))
        assert same_equations(found, {x: by_hand})


class TestNames:
    @pytest.mark.parametrize(
        ("lagrangian", "work", "name"),
        [
            (m * dt(q).dot(dt(q)) / 2 + vectors("q", constant=True).dot(e3), None, "q"),
            (m * dt(q).dot(dt(q)) / 2 + scalars("e3", constant=True) * q.dot(e3), None, "e3"),
            (m * dt(q).dot(dt(q)) / 2 - define("q", 2 * q).dot(e3), None, "q"),
            (m * dt(q).dot(dt(q)) / 2, delta(q).dot(vectors("xi")), "xi"),
            (define("p", m * q).dot(e3) + define("p", q).dot(e3), None, "p"),
        ],
    )
    def test_two_symbols_of_one_name_are_refused(self, lagrangian, work, name):
        with pytest.raises(ModelError, match=f"two different symbols are called '{name}'"):
            derive(lagrangian, work, q)

    def test_a_multiplier_takes_a_name_that_is_free(self):
        force = scalars("lambda")
        found = derive(m * dt(x).dot(dt(x)) / 2, force * delta(x).dot(e1), x, [dt(x).dot(e3)])
        assert str(found["x"]) == "m x'' - lambda e1 - mu e3 = 0"
        assert found.inputs == (force,)

    def test_kinds_of_one_name_are_sorted(self):
        s, c = scalars("s"), scalars("s", constant=True)
        a, u = vectors("a"), unit_vectors("a")
        assert normal(s * c - c * s) == {}
        assert normal(cross(a, u) + cross(u, a)) == {}
        assert normal(cross(a, u).dot(e3) - cross(u, e3).dot(a)) == {}

    def test_names_are_normalised_as_keywords_are(self):
        micro = scalars("\u00b5", constant=True)  # the micro sign, as keyboards have it; Python's names make it a mu
        assert micro == scalars("\u03bc", constant=True)
        assert micro.latex() == r"\mu"
        assert scalars("\u03c6_1").latex() == r"\phi_{1}"
        assert vectors("\u03a9Q").latex() == r"\Omega_{Q}"


def test_a_moment_on_a_unit_vector_acts_at_right_angles_to_it():
    kinetic = m * dt(q).dot(dt(q)) / 2
    found = derive(kinetic, q.virtual.dot(F), q)
    assert str(found) == "q x (m q'' + q x F) = 0"
    assert same_equations(found, derive(kinetic, delta(q).dot(F.cross(q)), q))
    found.compile()


def test_powers_of_dot_products_are_gathered():
    found = derive(m * dt(x).dot(dt(x)) / 2 - r * x.dot(x) ** 3 - j * x.dot(e1) ** 4, None, x)
    assert str(found) == "m x'' + 6 r |x|^4 x + 4 j (x.e1)^3 e1 = 0"
    assert simplify(x.dot(x) ** 3).latex() == r"\left\| x \right\|^{6}"


class TestArguments:
    def test_numbers_of_numpy_are_numbers(self):
        assert np.int64(2) * x == 2 * x
        assert x * np.float32(0.5) == x / 2
        assert vectors("y", np.int64(2)).shape == (2,)

    @pytest.mark.parametrize(
        "declaration",
        [
            lambda: unit_vectors("q", 2),
            lambda: scalars("s", constant="yes"),
            lambda: rotations("R", rate="a b"),
            lambda: simplify(3),
            lambda: m * np.True_,
        ],
    )
    def test_what_is_no_declaration_is_refused(self, declaration):
        with pytest.raises(OperandError):
            declaration()

    def test_nothing_may_be_said_of_constraints(self):
        assert derive(ROLLING, None, (x, R), constraints=None, prescribed=None).constraints == ()
        with pytest.raises(ModelError, match="constraint 0 must be"):
            derive(ROLLING, None, (x, R), constraints=3)

    def test_a_set_has_no_order(self):
        with pytest.raises(ModelError, match="in their order"):
            derive(ROLLING, None, {x, R})

    def test_forgotten_virtual_work(self):
        with pytest.raises(ModelError, match="virtual work must be a scalar formula"):
            derive(ROLLING, [x, R])

    def test_steps_in_a_wrong_order_are_named(self):
        first = action(ROLLING, None, (x, R))
        for call, given in ((extract, variation(first)), (integrate_by_parts, variation(first)), (variation, x)):
            with pytest.raises(ModelError, match=f"{call.__name__} was given {type(given).__name__}"):
                call(given)

    def test_rows_by_name_and_one_after_the_other(self):
        found = derive(ROLLING, None, (x, R))
        assert found["R"] is found[R]
        assert [row.symbol for row in found] == [x, R]
        assert len(found) == 2
        assert len({found, found}) == 1

    def test_equations_survive_pickling(self):
        found = pickle.loads(pickle.dumps(derive(ROLLING, R.virtual.dot(F), (x, R))))
        assert str(found) == str(derive(ROLLING, R.virtual.dot(F), (x, R)))
        assert copy.deepcopy(found)["x"].residual == found["x"].residual

    def test_a_difference_blames_the_set_that_says_more(self):
        more = derive(ROLLING, None, (x, R), [dt(x).dot(e3), dt(x).dot(e1)])
        less = derive(ROLLING, None, (x, R), [dt(x).dot(e3)])
        assert difference(more, less).side == "first"
        assert difference(less, more).side == "second"
