"""What the papers' tables claim besides times: growth, counts, coordinates, and that both methods agree."""

import sys
from pathlib import Path

import numpy as np
import pytest

import recursive_dyn as rd
from demos.benchmark import counts
from demos.benchmark.papers import complexity, figures, footprint, gallery, tables
from demos.benchmark.papers.complexity import fit, growth
from demos.benchmark.papers.mechanisms import PUBLISHED, scene_and_rest, state

LINE = 0.999  # R^2 that the growth must have
CHAINS = {"hinge chain": (complexity.hinges, (2, 6, 10, 14, 18, 24)), "torus chain": (complexity.tori, (1, 3, 5, 7, 9))}


@pytest.mark.parametrize("label", CHAINS)
def test_operations_grow_as_in_figures_6_and_7(label: str) -> None:
    found = growth(label, *CHAINS[label])
    n = found.coordinates
    assert fit(n, found.inverse, 1).r2 > LINE
    assert fit(n, found.recursive, 1).r2 > LINE
    assert fit(n, found.equations, 2).r2 > LINE > fit(n, found.equations, 1).r2
    assert fit(n, found.lagrangian, 3).r2 > LINE
    for operations, degree in ((found.equations, 2), (found.lagrangian, 3)):
        assert fit(n, operations, degree).coefficients[0] > 0


def test_chains_of_six_hinges_stay_below_the_published_counts() -> None:
    below = tables.is_below
    published = counts.PUBLISHED
    best, worst, balafoutis = (published[k] for k in published)
    assert (best[0], worst[0], balafoutis) == ((328, 365), (509, 971), ((386, 450), (790, 956)))
    for kind in counts.PLAIN:
        found = {name: (c.add, c.mul) for name, c in counts.measured(kind).items()}
        assert below(found["inverse"], worst[0]) and below(found["inverse"], balafoutis[0]), kind
        assert below(found["lagrangian"], balafoutis[1]), kind
        if kind in counts.SLENDER:
            assert below(found["inverse"], best[0]), kind
    general = counts.measured("general DH")["inverse"]
    assert general.add + general.mul < sum(best[0])  # though theirs is of a simpler chain


@pytest.mark.parametrize("name", PUBLISHED)
def test_method_two_agrees_with_method_one(name: str) -> None:
    scene, rest = scene_and_rest(name)
    dynamics = rd.Dynamics(scene.model(), "recursive")
    assert dynamics.nv == PUBLISHED[name].coordinates
    at = state(name, dynamics, rest)
    two = rd.Dynamics(dynamics.model, "method_two").forward_dynamics(*at)
    one = dynamics.forward_dynamics(*at)
    assert np.abs(two - one).max() < 1e-9 * np.abs(one).max()


@pytest.mark.parametrize("method", footprint.METHODS)
def test_preparation_is_measured_in_a_process_of_its_own(method: str) -> None:
    cost = footprint.measure("RC20", method)
    assert min(cost.lowering, cost.graph, cost.compile, cost.code_kb) > 0
    assert cost.operations > 100 and 0 <= cost.memory_mb < 1000


def test_the_tables_are_printed(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(tables, "PUBLISHED", {name: PUBLISHED[name] for name in ("RC20", "TC10")})
    tables.guenter_lee_figures(tmp_path, (2, 4, 6, 8), (1, 2, 3, 4))
    tables.guenter_lee_counts()
    tables.si_guenter_times(0.01)
    monkeypatch.setattr(tables, "PUBLISHED", {"RC20": PUBLISHED["RC20"]})
    tables.si_guenter_preparation()
    tables.si_guenter_sizes(0.01, ("RC20",))
    monkeypatch.setattr(gallery, "NAMES", ("wheels", "ellipsoids"))
    gallery.mechanisms(0.01)
    printed = capsys.readouterr().out
    for expected in ("figures 6 and 7", "386+ 450*: yes", "Method II", "TC10", "compile s", "wrote", "ellipsoids"):
        assert expected in printed
    assert {path.name for path in tmp_path.iterdir()} == {"guenter_lee_fig6.png", "guenter_lee_fig7.png"}


def test_without_matplotlib_the_tables_say_what_to_install(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    tables.guenter_lee_figures(tmp_path, (2, 4, 6, 8), (1, 2, 3, 4))
    assert figures.MISSING in capsys.readouterr().out and not list(tmp_path.iterdir())
