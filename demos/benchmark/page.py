"""A page's tables, written by what printed them: nothing is written unless a page is named."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path


class _Both(io.StringIO):
    """Text that is printed and kept."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text) if sys.__stdout__ else None
        return super().write(text)


@contextlib.contextmanager
def rewriting(page: Path | None) -> Iterator[None]:
    """What is printed meanwhile replaces the page's tables of the same heads; says which ones it does not have."""
    if page is None:
        yield
        return
    before = page.read_text(encoding="utf-8")  # before hours of measuring, in case it is not there
    with contextlib.redirect_stdout(_Both()) as printed:
        yield
    found, known = tables(printed.getvalue()), tables(before)
    page.write_text(replaced(before, found), encoding="utf-8")
    for head, blocks in found.items():
        same = len(blocks) == len(known.get(head, []))
        print(f"{'wrote' if same else f'{page} has another number of these tables'}: {head}")


def tables(text: str) -> dict[str, list[list[str]]]:
    """The Markdown tables of each first line, one after the other, as lines."""
    result: dict[str, list[list[str]]] = {}
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            block.append(line)
        elif block:
            result.setdefault(block[0], []).append(block)
            block = []
    return result


def replaced(page: str, found: dict[str, list[list[str]]]) -> str:
    """The page with the tables that are found in place of its own, where there are as many of the same head."""
    known = tables(page)
    left = {head: list(blocks) for head, blocks in found.items() if len(blocks) == len(known.get(head, []))}
    lines: list[str] = []
    inside = table = False
    for line in page.splitlines():
        first, table = line.startswith("|") and not table, line.startswith("|")
        inside = table and (inside or (first and line in left))
        if first and inside:
            lines += left[line].pop(0)
        if not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"
