"""Constants, arrays and equations that are refused before anything is computed with them."""

from dataclasses import replace

import numpy as np
import pytest
from moving import J, R, e3, g, m, q, q1, q2, random_state, rho, rigid, s, spherical, system, tau, x

import recursive_dyn as rd
from recursive_dyn.manifold import delta, derive, dt, rotations, scalars, unit_vectors
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.writing.equation import Equation


class TestParameters:
    def fresh(self):
        return ManifoldDynamics(rigid()).parameters

    def test_names_symbols_and_shapes(self):
        parameters = self.fresh()
        assert set(parameters) == {"J", "m", "g", "rho", "e3"} and len(parameters) == 5
        parameters[J] = np.diag([1.0, 2.0, 3.0])
        parameters["m"] = 2
        parameters.update({rho: (0, 0, 1)}, g=9.81)
        assert parameters["m"] == 2.0 and isinstance(parameters[m], float)
        assert parameters["J"].shape == (3, 3) and (parameters["rho"] == [0, 0, 1]).all()
        parameters["rho"][0] = 5.0  # a copy
        assert (parameters["rho"] == [0, 0, 1]).all()

    @pytest.mark.parametrize(
        ("name", "value", "error", "words"),
        [
            ("J", [[1, 2, 0], [0, 1, 0], [0, 0, 1]], rd.StateError, "symmetric"),
            ("J", np.eye(2), rd.StateError, r"3 x 3 matrix.*\(2, 2\)"),
            ("e3", [0, 0, 2], rd.StateError, "unit vector.*length"),
            ("m", np.nan, rd.StateError, "finite"),
            ("m", [1.0], rd.StateError, "scalar"),
            ("m", "heavy", rd.StateError, "numbers of a scalar"),
            ("m", "1.5", rd.StateError, "numbers of a scalar"),
            ("m", 1j, rd.StateError, "numbers of a scalar"),
            ("m", None, rd.StateError, "finite"),
            ("rho", [[1], [2, 3]], rd.StateError, "numbers of a vector"),
            ("rho", [1, np.inf, 0], rd.StateError, "finite"),
            ("rho", 1.0, rd.StateError, r"\(3,\)"),
            ("mass", 1.0, rd.ModelError, "unknown parameter 'mass'.*J"),
            (tau, [1, 2, 3], rd.ModelError, "unknown parameter 'tau'"),
        ],
    )
    def test_refusals(self, name, value, error, words):
        parameters = self.fresh()
        with pytest.raises(error, match=words):
            parameters[name] = value
        with pytest.raises(error, match=words):
            parameters.update({"g": 3.0, name: value})
        with pytest.raises(rd.ModelError, match="no value yet"):
            parameters["g"]

    def test_constant_rotations_are_checked(self):
        C = rotations("C", constant=True)
        parameters = ManifoldDynamics(derive(m * dt(x).dot(dt(x)) / 2 - (C * e3).dot(x), None, x)).parameters
        for wrong in (2 * np.eye(3), np.diag([1, 1, -1])):
            with pytest.raises(rd.StateError, match="'C' is a rotation matrix"):
                parameters["C"] = wrong
        parameters["C"] = np.eye(3)


class TestArrays:
    def test_shapes(self):
        dynamics = system("spherical pendulum")
        with pytest.raises(rd.StateError, match=r"'q' has shape \(4,\).*\(\.\.\., 3\)"):
            dynamics.mass_matrix(np.zeros(4))
        with pytest.raises(rd.StateError, match="'v' must be"):
            dynamics.accelerations([0, 0, 1], "fast")
        with pytest.raises(rd.StateError, match="do not broadcast"):
            dynamics.accelerations(np.zeros((2, 3)), np.zeros((5, 3)))
        with pytest.raises(rd.StateError, match="force 'tau' is a vector"):
            dynamics.accelerations([0, 0, 1], [0, 0, 0], {"tau": [1, 2]})
        with pytest.raises(rd.StateError, match="force 'tau' needs finite"):
            dynamics.accelerations([0, 0, 1], [0, 0, 0], {"tau": [1, 2, np.nan]})
        with pytest.raises(rd.ModelError, match="unknown force 'f'"):
            dynamics.accelerations([0, 0, 1], [0, 0, 0], {"f": 1})

    def test_numbers_that_are_not_finite_are_told_by_variable(self):
        dynamics = system("quadrotor with load")
        positions, v = random_state(dynamics)
        for name, index, variable in (("q", 4, "q"), ("v", 1, "x"), ("q", 9, "R")):
            bad = {"q": positions.copy(), "v": v.copy()}
            bad[name][index] = np.nan
            for lead in (1, 4):
                stacked = {n: np.tile(a, (lead, 1)) if lead > 1 else a for n, a in bad.items()}
                with pytest.raises(rd.StateError, match=f"'{name}' is not finite at '{variable}'"):
                    dynamics.accelerations(stacked["q"], stacked["v"])
        with pytest.raises(rd.StateError, match="'R' is not of unit length"):
            dynamics.accelerations(np.where(np.arange(10) < 6, positions, 0.0), v)
        with pytest.raises(rd.StateError, match="'q' is not of unit length"):
            dynamics.accelerations(np.where((np.arange(10) < 3) | (np.arange(10) > 5), positions, 0.0), v)

    def test_an_empty_batch(self):
        dynamics = system("spherical pendulum")
        assert dynamics.accelerations(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)


class TestRefusals:
    """Equations that cannot be solved for the accelerations."""

    def refuse(self, equations, *words):
        with pytest.raises(rd.ModelError) as caught:
            ManifoldDynamics(equations)
        assert all(word in str(caught.value) for word in words), str(caught.value)

    def test_variables_without_inertia(self):
        T = m * dt(q1).dot(dt(q1)) / 2
        self.refuse(derive(T - m * g * q2.dot(e3), None, (q1, q2)), "'q2'", "no inertia")
        self.refuse(derive(m * dt(x).dot(dt(x)) / 2 - m * (R * rho).dot(e3), None, (x, R)), "'R'", "no inertia")
        flat = derive(m * dt(x).dot(e3) ** 2 / 2, None, x)
        self.refuse(flat, "'x'")
        self.refuse(derive(T - s * s, None, (q1, s)), "'s'", "no inertia")

    def test_motions_without_kinetic_energy(self):
        u = scalars("u")
        self.refuse(derive(m * (dt(s) + dt(u)) ** 2 / 2, None, (s, u)), "singular", "without kinetic energy")

    def test_rows_with_higher_derivatives(self):
        self.refuse(derive(m * dt(x, 2).dot(dt(x, 2)) / 2, None, x), "'x'", "x''''")
        self.refuse(derive(m * dt(x).dot(dt(x)) / 2, delta(x).dot(dt(x, 3)), x), "row of 'x'", "x'''")

    def test_rows_that_are_not_linear_in_accelerations(self):
        L = m * dt(x).dot(dt(x)) / 2
        self.refuse(derive(L, delta(x).dot(e3) * dt(x, 2).dot(dt(x, 2)), x), "row of 'x'", "not linear")

    def test_forces_that_depend_on_accelerations_unsymmetrically(self):
        u = scalars("u")
        L = m * (dt(s) ** 2 + dt(u) ** 2) / 2
        self.refuse(derive(L, delta(s) * dt(u, 2), (s, u)), "'u'", "'s'", "symmetric")

    def test_rows_of_unit_vectors_that_are_not_at_right_angles(self):
        good = spherical()
        bad = Equation(q, normal(m * dt(q, 2) + m * g * e3))
        self.refuse(replace(good, rows=(bad,)), "'q'", "right angles")

    def test_rows_of_another_shape_order_or_number(self):
        good = derive(m * (dt(x).dot(dt(x)) + dt(s) ** 2) / 2, None, (x, s))
        self.refuse(replace(good, rows=good.rows[::-1]), "one row for each")
        self.refuse(replace(good, rows=good.rows[:1]), "one row for each")

    def test_two_symbols_of_one_name(self):
        other = scalars("J", constant=True)
        L = R.rate.dot(J * R.rate) / 2 + other * dt(s) ** 2 / 2
        with pytest.raises(rd.ModelError, match="two different symbols are called 'J'"):
            derive(L, None, (R, s))

    def test_constraints_that_are_not_linear(self):
        good = derive(m * dt(x).dot(dt(x)) / 2, None, x, constraints=[dt(x).dot(e3)])
        self.refuse(replace(good, constraints=(dt(x).dot(dt(x)),)), "not linear in velocities")
        self.refuse(replace(good, constraints=(x.dot(e3),)), "holds no velocity")

    def test_multipliers_that_do_not_act_along_the_constraints(self):
        good = derive(m * dt(x).dot(dt(x)) / 2, None, x, constraints=[dt(x).dot(e3)])
        other = unit_vectors("e2", constant=True)
        self.refuse(replace(good, constraints=(dt(x).dot(other),)), "do not act along")
        self.refuse(replace(good, multipliers=()), "as many multipliers")

    def test_unknown_functions(self):
        with pytest.raises(rd.ModelError, match=r"unknown function 'jacobian'.*accelerations"):
            system("spherical pendulum").operation_count("jacobian")
