"""Columns of numbers over time as a table in text, and as curves."""

from __future__ import annotations

import csv as text_tables
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.codegen.making import whole_file
from recursive_dyn.errors import ModelError, SceneFileError, StateError


def csv(path: Path, columns: Mapping[str, np.ndarray]) -> Path:
    """Write columns (n, ...) under their names, as RFC 4180 has it, numbers to the last bit.

    Columns of arrays become several, name[0], name[1, 2] and so on. Raises SceneFileError if it cannot be written.
    """
    lists: dict[str, list[Any]] = {}
    for name, values in columns.items():
        for index in np.ndindex(values.shape[1:]):
            place = f"[{', '.join(map(str, index))}]" if index else ""
            lists[name + place] = values[(slice(None), *index)].tolist()
    text = io.StringIO(newline="")
    writer = text_tables.writer(text)
    writer.writerow(lists)
    writer.writerows(zip(*lists.values(), strict=True))
    whole_file.replace(path, text.getvalue().encode())
    return path


def plot(time: np.ndarray, columns: Mapping[str, np.ndarray], path: str | Path | None) -> Any:
    """A Matplotlib figure, an axis a column, also written to a path if there is one. StateError without Matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise StateError(
            "plots need the package matplotlib, pip install matplotlib; csv(path) writes the same numbers without it"
        ) from missing
    figure = Figure(figsize=(8.0, 1.2 + 1.5 * len(columns)), layout="constrained")
    axes = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (name, values) in zip(axes, columns.items(), strict=True):
        axis.plot(time, values.reshape(len(time), -1), linewidth=1.3)
        axis.set_ylabel(name)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time, s")
    if path is not None:
        try:
            figure.savefig(path, dpi=120)
        except ValueError as trouble:  # a suffix that Matplotlib does not write
            raise ModelError(f"'{path}': {trouble}") from trouble
        except OSError as trouble:
            raise SceneFileError(f"{path}: cannot be written ({trouble.strerror}); check its folder") from trouble
    return figure
