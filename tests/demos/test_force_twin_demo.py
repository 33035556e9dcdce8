"""Both twins of the demo stay with our simulation, and their distances are plotted into the picture."""

import numpy as np
import pytest

from demos import force_twin
from demos.curves_over_time import Curve, Plot
from demos.stage import advance, mirrored


def test_twins_stay_with_ours_and_say_how_far_they_are():
    """Semi-implicit Euler at 1/240 s: parts of a millimetre in a second, more where nothing holds bodies together."""
    stage = force_twin.build()
    comparison = stage.control.__self__
    with mirrored(stage):
        for _ in range(25):
            advance(stage, 1 / 25)
        held, free = (curve.values for curve in comparison.plot.curves)
        assert comparison.plot.times[-1] == pytest.approx(1.0, abs=0.02)
        assert 1e-6 < max(held) < 1e-3 and 1e-6 < max(free) < 1e-2
        assert "held by nothing" in stage.report()
        names = list(comparison.free.bullet_bodies)
        assert names == [*comparison.held.bullet_bodies, "bar"]


def test_a_plot_is_drawn_into_its_corner():
    plot = Plot("error, m", [Curve("one", (255, 0, 0)), Curve("other", (0, 0, 255))], 1e-4, 1.0)
    picture = np.full((360, 480, 3), 128, dtype=np.uint8)
    empty = plot.drawn(picture)
    for t in np.linspace(0, 2, 50):
        plot.add(t, 1e-3, 10 ** (-3 + t))
    drawn = plot.drawn(picture)
    changed = np.argwhere((drawn != picture).any(axis=2))
    assert drawn.shape == picture.shape and changed[:, 0].min() > 180 and changed[:, 1].max() < 240
    assert (picture == 128).all()
    red, blue = ((drawn == color).all(axis=2) for color in ((255, 0, 0), (0, 0, 255)))
    assert (red & ~(empty == (255, 0, 0)).all(axis=2)).sum() > 50
    rows, columns = np.nonzero(blue & ~(empty == (0, 0, 255)).all(axis=2))
    assert rows[columns.argmax()] < rows[columns.argmin()]  # it rises
