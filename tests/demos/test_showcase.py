"""The showcase: rings stay out of the pedestal, bricks and cubes fall, the person stays in the chair."""

import numpy as np
import pytest

from demos import showcase
from demos.stage import advance, mirrored


@pytest.mark.slow
def test_chain_meets_the_pedestal_and_the_bricks_and_the_person_the_cubes():
    stage = showcase.build()
    sim = stage.simulation
    index = sim.dynamics.bodies.index
    chain = [index(f"ring{k}") for k in range(showcase.RINGS)] + [index("ball")]
    start, met, nearest = sim.frames()[0], set(), np.inf
    with mirrored(stage) as mirror:
        assert not mirror.overlaps
        for _ in range(400):
            advance(stage, stage.seconds / 400)
            met |= {frozenset(pair) for pair in sim.touching}
            assert sim.solution.penetration < 2e-3
            X = sim.frames()[0]
            low = X[chain, 2, 3] < 0.0  # below the pedestal's top
            ways = np.linalg.norm(X[chain, :2, 3], axis=1)[low]
            nearest = min(nearest, *ways.tolist(), 1.0)
    # a ring's centre lies in its hole: the ring goes round no post, as both its ends hang on others
    assert nearest > showcase.PEDESTAL.radius - showcase.RADIUS + showcase.TUBE
    moved = np.linalg.norm(X[:, :3, 3] - start[:, :3, 3], axis=1)
    assert sum(moved[index(f"brick0.{row}.{column}")] > 0.05 for row in range(4) for column in range(2)) >= 4
    assert moved[index("cube0.2")] > 0.3
    assert any(pair & {"ball", "ring4", "ring3"} and "world" in pair for pair in met)  # the pedestal
    assert any("cube" in "".join(pair) and ("foot" in "".join(pair) or "shank" in "".join(pair)) for pair in met)
    place = np.linalg.solve(X[index("chair")], X[index("chest")][:, 3])[:3]
    assert abs(place[2] + showcase.CHAIR - 0.2) < 0.15  # upright
