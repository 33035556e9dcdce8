"""Figures 6 and 7 of Guenter & Lee (2009) drawn from this project's counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demos.benchmark.papers.complexity import EQUATIONS, Growth, fit

MISSING = "matplotlib is not installed, so no figures: pip install matplotlib, or install the extra 'peers' or 'test'"
_POWERS = {1: "n", 2: "n²", 3: "n³"}
_PANELS = ("(a)", "(b)")


def draw(chains: Sequence[Growth], folder: Path) -> list[Path]:
    """Write guenter_lee_fig6.png and guenter_lee_fig7.png; the files written, none without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, curves in ((6, _inverse), (7, _forward)):
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        for axes, panel, chain in zip(figure.subplots(1, 2), _PANELS, chains, strict=True):
            curves(axes, chain)
            axes.set(title=f"{panel} {chain.label}", xlabel="generalized coordinates", ylabel="operations")
            axes.set_xlim(left=0)
            axes.set_ylim(0, 1.25 * axes.get_ylim()[1])  # room for the legend
            axes.grid(alpha=0.3)
            axes.legend(frameon=False, loc="upper left")
        written.append(folder / f"guenter_lee_fig{number}.png")
        figure.savefig(written[-1], dpi=110)
    return written


def _inverse(axes: Any, chain: Growth) -> None:
    _curve(axes, chain.coordinates, chain.inverse, 1, "inverse dynamics", "tab:blue", "o")


def _forward(axes: Any, chain: Growth) -> None:
    _curve(axes, chain.coordinates, chain.lagrangian, 3, "lagrangian with factorization", "0.6", "^")
    _curve(axes, chain.coordinates, chain.equations, 2, f"lagrangian, {EQUATIONS}", "tab:red", "s")
    _curve(axes, chain.coordinates, chain.recursive, 1, "recursive", "tab:blue", "o")


def _curve(axes: Any, n: Sequence[int], y: Sequence[int], degree: int, label: str, color: str, marker: str) -> None:
    best = fit(n, y, degree)
    smooth = np.linspace(0, max(n), 200)
    axes.plot(smooth, best(smooth), color=color, linewidth=1)
    text = f"{label}: {_POWERS[degree]}, R² = {best.r2:.6f}"
    axes.plot(n, y, marker, color=color, markersize=4, label=text)
