"""Where a shared library's symbols lie, static ones included: the symbol table of an ELF file, read as bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_SECTIONS_AT, _SECTIONS_ARE = 40, 58  # where the file's header says where its sections are, and how long and many
_SYMBOLS = 2  # the type of a section with the whole symbol table; what is stripped has none
_HEADER = struct.Struct("<IIQQQQIIQQ")  # of a section
_SYMBOL = struct.Struct("<IBBHQQ")  # name, type, visibility, section, value, size


@dataclass(frozen=True)
class SymbolPlace:
    """Where a symbol lies, in bytes from where the library is loaded, and its size."""

    offset: int
    size: int


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    each: int


def symbols(path: str | Path, names: Sequence[str]) -> dict[str, SymbolPlace]:
    """Those of ``names`` that a file says once; none where it is no 64-bit ELF file, or was stripped."""
    try:
        with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return dict(_named(data, names))
    except (OSError, ValueError, struct.error):  # not there, empty, cut off
        return {}


def _named(data: mmap, names: Sequence[str]) -> Iterator[tuple[str, SymbolPlace]]:
    if data[: len(_ELF64_LITTLE)] != _ELF64_LITTLE:
        return
    (start,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    length, count = struct.unpack_from("<HH", data, _SECTIONS_ARE)
    sections = [_Section(*_HEADER.unpack_from(data, start + k * length)) for k in range(count)]
    for table in (section for section in sections if section.type == _SYMBOLS):
        texts = sections[table.link]
        text = data[texts.offset : texts.offset + texts.size]
        places = {place: name for name in names for place in _places(text, name)}
        found: dict[str, list[SymbolPlace]] = {}
        for place, _, _, section, value, size in _SYMBOL.iter_unpack(data[table.offset : table.offset + table.size]):
            if place in places and section:  # not one that is only asked for
                found.setdefault(places[place], []).append(SymbolPlace(value, size))
        yield from ((name, same[0]) for name, same in found.items() if len(same) == 1)


def _places(text: bytes, name: str) -> Iterator[int]:
    """Where a name stands among the texts; the end of a longer one may serve as one."""
    wanted, place = name.encode() + b"\0", -1
    while (place := text.find(wanted, place + 1)) >= 0:
        yield place
