"""Tables as notebooks show them, and short numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def short(value: Any) -> str:
    """A number in few digits; whatever else, as text."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def counted(count: int, what: str, several: str = "") -> str:
    """As in "1 body", "2 bodies"."""
    return f"{count} {what if count == 1 else several or what + 's'}"


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """An HTML table; every cell is text and is escaped."""
    top = f"<caption>{escape(caption)}</caption>" if caption else ""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(short(x))}</td>" for x in row) + "</tr>" for row in rows)
    return f"<table>{top}<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
