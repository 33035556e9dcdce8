"""The scenes whose edits are timed do what they say."""

import pytest

from demos.benchmark import edits


@pytest.mark.parametrize("engine", edits.ENGINES, ids=lambda engine: engine.label)
def test_a_ball_comes_and_goes_and_the_others_stay_where_they_are(engine):
    pytest.importorskip(engine.module)
    cost = edits.measure(engine, 4, edits=2)  # says so itself if a body is left
    assert cost.step > 0.0
