"""Prescribed motions go on within a step, and constraints are met with them; jumps are refused."""

from functools import cache

import numpy as np
import pytest
from moving import R, compiled, e1, e3, m, x

import recursive_dyn as rd
from recursive_dyn.manifold import derive, dt, rotations, scalars, unit_vectors, vectors
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion import Motion

RADIUS, INERTIA = 0.1, 0.4  # of a ball: m, shares of m r^2
SHARE = INERTIA / (1 + INERTIA)  # of the plate's velocity that a ball takes
p = vectors("p")


@cache
def plate():
    """A ball rolls on a plate at p that moves in its plane."""
    j, r = scalars("j r", constant=True)
    slip = dt(x) - dt(p) - (R * R.rate).cross(r * e3)
    L = m * dt(x).dot(dt(x)) / 2 + j * R.rate.dot(R.rate) / 2
    equations = derive(L, None, (x, R), constraints=[slip], prescribed=(p,))
    return compiled(equations, m=2.0, r=RADIUS, j=INERTIA * 2.0 * RADIUS**2)


class TestPrescribedMotion:
    """p' and p'' of the plate: a ball that starts at rest has x' = p' k / (1 + k)."""

    @pytest.mark.parametrize("count", [1, 50])
    @pytest.mark.parametrize("given", ["every time", "once"])
    def test_a_ball_on_an_accelerating_plate(self, count, given):
        A, motion = 2.0, Motion(plate())
        motion.forces["p''"] = [A, 0, 0]
        while motion.time < 0.4999:
            if given == "every time":
                motion.forces["p'"] = [A * motion.time, 0, 0]
            motion.step(count)
        t = motion.time
        assert motion.rate(x) == pytest.approx([A * t * SHARE, 0, 0], abs=1e-13)
        assert motion[x] == pytest.approx([A * t**2 / 2 * SHARE, 0, 0], abs=1e-13)
        assert motion.forces["p'"] == pytest.approx([A * t, 0, 0], abs=1e-13)
        assert motion.drift < 1e-14

    def test_a_ball_on_a_shaken_plate_follows_to_the_second_order(self):
        """p' = sin w t, its p'' held for a step; it turns in the middle of one, with equal values before and after."""
        w, errors = 2 * np.pi * 2, []
        for h in (0.02, 0.01):
            motion = Motion(plate(), h)
            for _ in range(round(0.46 / h)):
                t = motion.time
                motion.forces["p'"], motion.forces["p''"] = [np.sin(w * t), 0, 0], [w * np.cos(w * t), 0, 0]
                motion.step()
            errors.append(abs(motion.rate(x)[0] - np.sin(w * 0.46) * SHARE))
        assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)

    @pytest.mark.parametrize("jump", [1.0, 1e-5])
    def test_a_rate_that_jumps_is_refused(self, jump):
        motion = Motion(plate())
        motion.step()
        motion.forces["p'"] = [jump, 0, 0]
        with pytest.raises(rd.StateError, match=r"violate the constraint .*p'.*admit\(\)"):
            motion.step()
        motion.admit()
        motion.step()

    def test_a_spring_whose_end_moves_on_within_a_step(self):
        """m x'' = k (p - x) from rest, p' = b: x = b t - b / w sin(w t), w^2 = k / m; error of order h^4."""
        k, b, w, errors = scalars("k", constant=True), 0.7, 3.0, []
        stretch = x - p
        L = m * dt(x).dot(dt(x)) / 2 - k * stretch.dot(stretch) / 2 + m * dt(p).dot(dt(p))
        dynamics = ManifoldDynamics(derive(L, None, x, prescribed=(p,)))
        dynamics.parameters.update(m=1.0, k=w**2)
        for h in (0.1, 0.05):
            motion = Motion(dynamics, h)
            motion.forces["p'"] = [b, 0, 0]
            motion.step(round(2.0 / h))
            assert motion.forces["p"] == pytest.approx([2 * b, 0, 0], abs=1e-14)
            errors.append(abs(motion[x][0] - b * (2.0 - np.sin(2.0 * w) / w)))
        assert errors[1] < 1e-4 and errors[0] / errors[1] == pytest.approx(16, rel=0.3)

    def test_rotations_and_unit_vectors_stay_what_they_are(self):
        """Omega stands still, so that C turns about e3; n keeps its length."""
        C, n = rotations("C"), unit_vectors("n")
        place = x + C * e1 + n
        L = m * dt(place).dot(dt(place)) / 2 - m * place.dot(place)
        motion = Motion(compiled(derive(L, None, x, prescribed=(C, C.rate, n))), 1e-2)
        motion.forces = {C: np.eye(3), C.rate: [0, 0, 2.0], n: [1, 0, 0], "n'": [0, 3.0, 0], "n''": [-9.0, 0, 0]}
        for count in (50, 1, 1):
            motion.step(count)
        c, s = np.cos(1.04), np.sin(1.04)
        assert motion.forces["C"] == pytest.approx(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), abs=1e-14)
        assert np.linalg.norm(motion.forces["n"]) == pytest.approx(1.0, abs=1e-15)
