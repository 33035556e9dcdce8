"""States, forces and steps that are refused, by name and with the last good state kept."""

import numpy as np
import pytest
from moving import R, compiled, double_spherical, moving, q, rigid, spherical, system, x

import recursive_dyn as rd
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion import Motion


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "keywords", "words"),
        [
            (([0, 0, 2],), {}, ["'q'", "unit"]),
            (([0, 0],), {}, ["'q'", "(3,)"]),
            (([0, 0, np.nan],), {}, ["'q'", "finite"]),
            (("up",), {}, ["'q'", "numbers"]),
            (([0, 0, 1], [0, 0, 1]), {}, ["'q'", "right angles"]),
            (([0, 0, 1],), {"angular": [0, 1, 1]}, ["'q'", "right angles"]),
            (([0, 0, 1], [1, 0, 0]), {"angular": [0, 1, 0]}, ["'q'", "not both"]),
            (([0, 0, 1], [np.inf, 0, 0]), {}, ["'q'", "finite"]),
        ],
    )
    def test_places_of_unit_vectors(self, arguments, keywords, words):
        self.refuse_place(q, arguments, keywords, words)

    @pytest.mark.parametrize(
        ("arguments", "keywords", "words"),
        [
            ((np.diag([1.0, 1.0, -1.0]),), {}, ["'R'", "right-handed"]),
            ((2 * np.eye(3),), {}, ["'R'", "orthonormal"]),
            (([0, 0, 0, 2],), {}, ["'R'", "quaternion"]),
            (([0, 0, 1],), {}, ["'R'", "(3, 3)"]),
            ((np.eye(3), np.eye(3)), {}, ["'R'", "(3,)"]),
        ],
    )
    def test_places_of_rotations(self, arguments, keywords, words):
        self.refuse_place(R, arguments, keywords, words)

    def test_places_of_vectors(self):
        self.refuse_place(x, ([1, 2],), {}, ["'x'", "(3,)"])
        self.refuse_place(x, ([1, 2, 3],), {"angular": [0, 0, 1]}, ["'x'", "flat"])

    def refuse_place(self, symbol, arguments, keywords, words):
        motion = moving("quadrotor with load")
        before = motion.q.copy(), motion.v.copy()
        with pytest.raises(rd.StateError) as caught:
            motion.place(symbol, *arguments, **keywords)
        assert all(word in str(caught.value) for word in words), str(caught.value)
        assert (motion.q == before[0]).all() and (motion.v == before[1]).all()

    def test_unknown_names(self):
        motion = moving("spherical pendulum")
        for wrong in (lambda: motion.place("p", [0, 0, 1]), lambda: motion[R], lambda: motion.rate("tau")):
            with pytest.raises(rd.ModelError, match="not in the configuration q"):
                wrong()
        with pytest.raises(rd.ModelError, match=r"unknown force 'tua'.*tau"):
            motion.forces["tua"] = [1, 2, 3]
        with pytest.raises(rd.ModelError, match=r"unknown parameter 'k'.*m"):
            motion.parameters["k"] = 1.0

    @pytest.mark.parametrize("value", [0, -1e-3, np.nan, np.inf, "1", None, True])
    def test_timesteps(self, value):
        with pytest.raises(rd.StateError, match="timestep"):
            Motion(system("spherical pendulum"), value)

    @pytest.mark.parametrize("count", [-1, 1.5, "1", None, True])
    def test_counts(self, count):
        with pytest.raises(rd.StateError, match="whole number"):
            moving("spherical pendulum").step(count)

    def test_a_motion_needs_compiled_equations(self):
        with pytest.raises(rd.StateError, match=r"compile\(\)"):
            Motion(spherical())

    def test_states_written_by_hand_that_are_off_the_manifold(self):
        motion = moving("quadrotor with load")
        motion.q[:] *= 2.0
        with pytest.raises(rd.StateError, match=r"'q'.*unit length"):
            motion.step()
        motion = moving("quadrotor with load")
        motion.v[3:6] += motion.q[3:6]
        with pytest.raises(rd.StateError, match="omega of 'q'"):
            motion.step()
        motion.v[3:6] = np.nan
        with pytest.raises(rd.StateError, match="'v' is not finite at 'q'"):
            motion.step()
        with pytest.raises(rd.StateError, match="'q' is not finite"):
            motion.q = np.full(10, np.nan)
        with pytest.raises(rd.StateError, match=r"'v' has shape .* but \(9,\) is needed"):
            motion.v = np.zeros(3)

    @pytest.mark.parametrize(
        ("value", "error", "words"),
        [(np.nan, rd.ModelError, "no value was given for 'tau'"), (np.inf, rd.StateError, "force is not finite")],
    )
    def test_forces_that_are_not_finite(self, value, error, words):
        motion = moving("spherical pendulum")
        with pytest.raises(rd.StateError, match="force 'tau' needs finite numbers"):
            motion.forces["tau"] = [0, value, 0]
        motion.forces.numbers[0] = value
        with pytest.raises(error, match=words):
            motion.step()

    def test_a_step_that_overflows_keeps_the_last_good_state(self):
        motion, same = (moving("double spherical pendulum", timestep=1.0) for _ in range(2))
        motion.forces["tau"] = same.forces["tau"] = [10.0, 0.0, 0.1]
        with pytest.raises(rd.StateError, match=r"motion at t = .*last good state"):
            motion.step(1000)
        assert motion.time >= 1.0
        same.step(round(motion.time))
        assert (motion.q == same.q).all() and (motion.v == same.v).all() and motion.time == same.time
        with pytest.raises(rd.StateError, match=r"motion at t = .*last good state"):
            same.step()

    def test_a_mass_of_zero(self):
        dynamics = compiled(double_spherical(), m2=0.0)
        motion = Motion(dynamics)
        with pytest.raises(rd.StateError, match="'q2' has no inertia"):
            motion.step()
        with pytest.raises(rd.StateError, match="'q2' has no inertia"):
            motion.acceleration("q2")
        assert (motion.q == dynamics.neutral()[0]).all() and motion.time == 0.0

    def test_a_negative_inertia(self):
        motion = Motion(compiled(rigid(), J=np.diag([1.0, -1.0, 1.0])))
        with pytest.raises(rd.StateError, match=r"'R'.*negative"):
            motion.step()

    def test_missing_parameters(self):
        dynamics = ManifoldDynamics(rigid())
        dynamics.parameters["m"] = 1.0
        for use in (Motion(dynamics).step, lambda: dynamics.mass_matrix(dynamics.neutral()[0])):
            with pytest.raises(rd.ModelError, match=r"'J' \(3 x 3 matrix\)"):
                use()
