"""Orientations within compiled loops are those of ``spatial.rotations``."""

import numpy as np
from scipy.spatial.transform import Rotation as Reference

from bridge.orientations import quaternion_of
from recursive_dyn.spatial.rotations import matrix_to_quaternion

HALF_TURNS = [np.diag(d) for d in ((1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0), (1.0, 1.0, 1.0))]


def test_compiled_quaternions_are_those_of_rotations():
    rotations = [*Reference.random(200, random_state=4).as_matrix(), *HALF_TURNS]
    for R in rotations:
        X = np.eye(4)
        X[:3, :3] = R
        found = quaternion_of(X)
        assert found == quaternion_of.python(X)
        np.testing.assert_allclose(found, matrix_to_quaternion(R), rtol=0.0, atol=1e-15)
