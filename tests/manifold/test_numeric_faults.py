"""Faults of numbers: what is refused and how it is said, arrays without states, copies."""

import copy
import pickle

import numpy as np
import pytest
from moving import (
    GRAVITY,
    VALUES,
    M,
    R,
    compiled,
    double_spherical,
    e3,
    m,
    moving,
    q,
    random_state,
    rigid,
    spherical,
    system,
    tau,
    x,
)

import recursive_dyn as rd
from recursive_dyn.manifold import derive, dt, rotations, scalars, symmetric_matrices, unit_vectors, vectors
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion import Motion


def test_constraints_that_contradict_each_other_cannot_be_admitted():
    w = scalars("w", constant=True)
    rows = [dt(x).dot(e3), dt(x).dot(e3) - w]
    motion = Motion(ManifoldDynamics(derive(m * dt(x).dot(dt(x)) / 2, None, x, constraints=rows)))
    motion.parameters.update(m=1.0, w=1.0, e3=[0, 0, 1])
    motion.place(x, [0, 0, 0], [1, 0, 3])
    with pytest.raises(rd.StateError, match="contradict each other"):
        motion.admit()
    assert (motion.rate(x) == [1, 0, 3]).all()
    motion.parameters["w"] = 0.0
    motion.admit()
    assert motion.rate(x) == pytest.approx([1, 0, 0], abs=1e-15)


class TestMappings:
    @pytest.mark.parametrize("wrong", [[1], 3, "tau", [("tau", [1, 2, 3])]])
    def test_what_is_no_mapping(self, wrong):
        dynamics = system("spherical pendulum")
        state, motion = random_state(dynamics), Motion(dynamics)

        def set_forces():
            motion.forces = wrong

        def set_parameters():
            motion.parameters = wrong

        for use, words in (
            (lambda: dynamics.accelerations(*state, wrong), "forces need a mapping of names"),
            (lambda: dynamics.pack(wrong), "positions need a mapping of names"),
            (lambda: dynamics.pack({q: [0, 0, 1]}, wrong), "rates need a mapping of names"),
            (lambda: dynamics.parameters.update(wrong), "parameters need a mapping of names"),
            (set_forces, "forces need a mapping of names"),
            (set_parameters, "parameters need a mapping of names"),
        ):
            with pytest.raises(rd.StateError, match=words):
                use()

    def test_a_symbol_given_twice(self):
        dynamics = compiled(spherical())
        state, motion, before = random_state(dynamics), Motion(dynamics), dict(dynamics.parameters)["m"]
        for use, words in (
            (lambda: dynamics.accelerations(*state, {"tau": [1, 2, 3], tau: [3, 2, 1]}), "'tau' is given twice"),
            (lambda: motion.forces.update({tau: [1, 2, 3]}, tau=[3, 2, 1]), "'tau' is given twice"),
            (lambda: dynamics.parameters.update({"m": 1.0, m: 2.0}), "'m' is given twice in the parameters"),
            (lambda: dynamics.pack({"q": [0, 0, 1], q: [0, 0, -1]}), "'q' is given twice in the positions"),
            (
                lambda: dynamics.pack({"q": [0, 0, 1]}, {"q": [0, 0, 0], q: [1, 0, 0]}),
                "'q' is given twice in the rates",
            ),
        ):
            with pytest.raises(rd.StateError, match=words):
                use()
        assert dynamics.parameters["m"] == before and (motion.forces["tau"] == 0).all()

    def test_parameters_can_be_assigned(self):
        dynamics = compiled(spherical())
        values = {name: VALUES[name] for name in dynamics.parameters} | {"g": 3.0}
        held, other = dynamics.parameters, Motion(compiled(spherical()))
        dynamics.parameters = values
        other.parameters = values
        assert held["g"] == other.parameters["g"] == 3.0
        assert Motion(dynamics).acceleration(q) == pytest.approx([0, 0, 0], abs=1e-15)
        with pytest.raises(rd.ModelError, match="unknown parameter 'J'"):
            dynamics.parameters = values | {"J": np.eye(3)}
        dynamics.parameters = {"g": 4.0}  # all are replaced
        with pytest.raises(rd.ModelError, match=r"no value was given for .*'m'"):
            dynamics.energy(*dynamics.neutral())

    def test_get_with_a_default(self):
        dynamics = ManifoldDynamics(spherical())
        dynamics.parameters["m"] = 2.0
        assert dynamics.parameters.get("m", 1.0) == dynamics.parameters.get(m) == 2.0
        assert dynamics.parameters.get("k", 1.0) == 1.0 and dynamics.parameters.get("k") is None
        with pytest.raises(rd.ModelError, match="'g' has no value yet"):
            dynamics.parameters.get("g", 1.0)


class TestArrays:
    def test_batches_of_no_states(self):
        for name in ("spherical pendulum", "3D pendulum", "quadrotor with load"):
            dynamics = system(name)
            empty = np.zeros((0, dynamics.nq)), np.zeros((0, dynamics.nv))
            forces = {key: np.zeros((0, *dynamics.no_forces().symbol(key).shape)) for key in dynamics.forces}
            assert dynamics.accelerations(*empty, forces).shape == (0, dynamics.nv)
            assert dynamics.mass_matrix(empty[0]).shape == (0, dynamics.nv, dynamics.nv)
        C, n, J = rotations("C"), unit_vectors("n"), symmetric_matrices("S")
        L = m * dt(x).dot(dt(x)) / 2 - x.dot(J * (C * n))
        dynamics = compiled(derive(L, None, x, prescribed=(C, C.rate, n, J)))
        shapes = {name: (0, *dynamics.no_forces().symbol(name).shape) for name in dynamics.forces}
        forces = {name: np.zeros(shape) for name, shape in shapes.items()}
        assert dynamics.accelerations(np.zeros((0, 3)), np.zeros(3), forces).shape == (0, 3)

    def test_rotations_are_made_exact(self):
        C = rotations("C", constant=True)
        L = m * dt(x).dot(dt(x)) / 2 - m * x.dot(C * e3)
        dynamics, rng = compiled_but(derive(L, None, x), "C"), np.random.default_rng(3)
        exact, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        exact = exact * np.linalg.det(exact)
        dynamics.parameters["C"] = exact + 2e-10 * rng.uniform(-1, 1, size=(3, 3))
        held = dynamics.parameters["C"]
        assert held.T @ held == pytest.approx(np.eye(3), abs=1e-15) and held == pytest.approx(exact, abs=1e-9)

    def test_the_length_that_is_most_off_is_named(self):
        n = unit_vectors("n")
        dynamics = compiled(derive(m * dt(x).dot(dt(x)) / 2 - m * x.dot(n), None, x, prescribed=(n,)))
        state = np.zeros((2, 3)), np.zeros((2, 3))
        with pytest.raises(rd.StateError, match="length given is 3: divide"):
            dynamics.accelerations(*state, {"n": [[0, 0, 1], [0, 0, 3]]})

    def test_quaternions_have_the_tolerance_of_unit_vectors(self):
        motion = moving("3D pendulum")
        motion.place(R, [0, 0, 0, 1 + 9e-10])
        assert np.linalg.norm(motion.q) == pytest.approx(1.0, abs=1e-15)
        with pytest.raises(rd.StateError, match=r"unit quaternion x, y, z, w, but .* 1\.0000009"):
            motion.place(R, [0, 0, 0, 1.0000009])

    @pytest.mark.parametrize("function", ["accelerations", "mass_matrix", "energy", "right_hand_side"])
    def test_unit_vectors_that_are_not(self, function):
        dynamics = system("double spherical pendulum")
        good, v = random_state(dynamics)
        call = getattr(dynamics, function)
        slightly, off = good.copy(), np.tile(good, (4, 1))
        slightly[3:] *= 1 + 5e-7
        off[2, 3:] *= 2
        call(slightly, v)
        for bad in (off, off[2], np.r_[good[:3], 0, 0, 0]):
            with pytest.raises(rd.StateError, match=r"'q2' is not of unit length but [20]: divide by it"):
                call(bad, v)


class TestCopies:
    @pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
    def test_of_dynamics(self, how):
        dynamics = compiled(rigid())
        state, forces = random_state(dynamics), {M: [1.0, 2.0, 3.0]}
        a = dynamics.accelerations(*state, forces)
        other = how(dynamics)
        assert (other.accelerations(*state, forces) == a).all() and other.nq == dynamics.nq
        other.parameters["m"] = 7.0
        assert dynamics.parameters["m"] == VALUES["m"] and (dynamics.accelerations(*state, forces) == a).all()
        assert (other.accelerations(*state, forces) != a).any()

    @pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
    def test_of_motions(self, how):
        motion = moving("quadrotor with load", forced=True)
        motion.step(3)
        other = how(motion)
        before = motion.q.copy(), motion.v.copy(), motion.forces.numbers.copy()
        other.step(10)
        other.forces["f"] = 100.0
        other.timestep = 1.0
        assert (motion.q == before[0]).all() and (motion.v == before[1]).all()
        assert (motion.forces.numbers == before[2]).all() and motion.timestep == 1e-3
        assert other.time == pytest.approx(0.013) and motion.time == pytest.approx(0.003)
        motion.step(10)
        assert (motion.q == other.q).all() and (motion.v == other.v).all()

    def test_copies_have_parameters_of_their_own(self):
        dynamics = compiled(spherical())
        motion = Motion(dynamics)
        others = Motion(dynamics), copy.copy(motion), copy.deepcopy(motion)
        motion.parameters["g"] = 1.0
        assert all(other.parameters["g"] == GRAVITY for other in (*others, dynamics))


class TestDiagnoses:
    def test_a_timestep_that_is_too_large(self):
        """A stiff spring at 'y' beside a load at 'x' that falls."""
        y, k = vectors("y"), scalars("k", constant=True)
        L = m * dt(x).dot(dt(x)) / 2 + m * dt(y).dot(dt(y)) / 2 - k * y.dot(y) / 2 - m * x.dot(e3)
        motion = Motion(compiled(derive(L, None, (x, y)), k=1e10))
        motion.place("y", [0, 0, 1e-3])
        with pytest.raises(rd.StateError, match=r"'y' is at .*smaller timestep.*last good state"):
            motion.step(1000)
        assert np.isfinite(motion.q).all() and abs(motion[x]).max() < 1.0

    def test_one_state_that_overflows_is_no_batch(self):
        dynamics = system("quadrotor with load")
        states, v = random_state(dynamics)
        with pytest.raises(rd.StateError, match=r"overflowed; 'R' is at 1e\+200$"):
            dynamics.accelerations(states, np.r_[v[:6], 1e200, 1e200, 1e200])

    def test_a_singular_batch(self):
        dynamics = compiled(double_spherical(), m2=0.0)
        states, v = random_state(dynamics)
        with pytest.raises(rd.StateError, match="a mass matrix of the batch is singular"):
            dynamics.accelerations(states, np.tile(v, (2, 1)))


def compiled_but(equations, *missing):
    """Dynamics with the constants but some."""
    dynamics = ManifoldDynamics(equations)
    dynamics.parameters.update({name: VALUES[name] for name in dynamics.parameters if name not in missing})
    return dynamics
