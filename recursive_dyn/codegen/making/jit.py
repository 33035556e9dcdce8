"""IR text to machine code in this process: compile, cache, load, hand out ctypes functions."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from platform import machine
from typing import Any, cast

import llvmlite
import llvmlite.binding as llvm

from recursive_dyn.codegen.making import cache
from recursive_dyn.codegen.making.building import building
from recursive_dyn.errors import ModelError

_NUMBERS = count()  # a library of a name that was there before is refused
FULL = 1  # effort of code generation: 2 compiles longer and runs no faster; 0 compiles 4 times faster, runs 1.5 slower


@dataclass(frozen=True, eq=False)
class Native:
    """Loaded machine code, as long as this lives, and the facts needed to call it."""

    facts: dict[str, Any]
    library: Any = field(repr=False)  # frees the code when it is dropped
    kept: Any = field(repr=False, default=None)
    _found: dict[str, tuple[int, Any]] = field(default_factory=dict, repr=False)  # with what frees it when dropped

    def address(self, name: str) -> int:
        """Address of a function."""
        if name not in self._found:
            with building():
                if name not in self._found:
                    found = _linker().lookup(self.library.name, name)
                    self._found[name] = int(found[name]), found
        return self._found[name][0]

    def holding(self, *others: Any) -> Native:
        """The same, which keeps what its machine code is called with alive."""
        return Native(self.facts, self.library, (self.kept, others), self._found)


@lru_cache(maxsize=1)
def _target() -> tuple[str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _new_machine(optimization: int = FULL) -> Any:
    cpu, features = _target()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=optimization, reloc="pic", codemodel="small", jit=True
    )


@lru_cache(maxsize=2)
def _emitter(optimization: int) -> Any:
    """The target machine that writes object code; llvmlite lets one thread at a time into LLVM."""
    return _new_machine(optimization)


def effort() -> int:
    """How hard LLVM works on programs: FULL, or what ``$RECURSIVE_DYN_EFFORT`` says; ModelError if it says neither."""
    chosen = os.environ.get("RECURSIVE_DYN_EFFORT", str(FULL))
    if chosen not in ("0", str(FULL)):
        raise ModelError(f"RECURSIVE_DYN_EFFORT is '{chosen}': set 0 to compile faster, or {FULL} to run faster")
    return int(chosen)


@lru_cache(maxsize=1)
def vector_width() -> int:
    """How many doubles the CPU's widest register holds."""
    _, features = _target()
    enabled = {f[1:] for f in features.split(",") if f.startswith("+")}
    return 8 if "avx512f" in enabled else 4 if "avx" in enabled else 2


def fuses() -> bool:
    """Whether programs are compiled with multiply-adds: not where a CPU has none, or time to compile is all."""
    _, features = _target()
    return effort() > 0 and ("+fma" in features.split(",") or machine() in ("aarch64", "arm64"))


def batch_width() -> int:
    """How many states of a batch are evaluated at once: a register full, or one where programs are compiled sooner."""
    return vector_width() if effort() else 1


def environment() -> str:
    """Everything besides the program that machine code depends on."""
    cpu, features = _target()
    return f"{cpu} {features} {llvmlite.__version__} {llvm.llvm_version_info} {effort()}"


def compile_modules(modules: Sequence[str], progress: Callable[[float], None] | None = None) -> list[bytes]:
    """Object code of each IR module."""
    machine = _emitter(effort())
    objects = []
    for text in modules:
        objects.append(bytes(machine.emit_object(llvm.parse_assembly(text))))
        if progress is not None:
            progress(len(objects) / len(modules))
    return objects


def compile_loops(text: str, effort: int) -> bytes:
    """Object code of an IR module of loops: as it stands, or its functions put into each other and simplified first.

    The first takes a twentieth of the time and runs four times slower, with the same results bit for bit.
    """
    machine = _emitter(effort)
    module = llvm.parse_assembly(text)
    if not effort:
        return bytes(machine.emit_object(module))
    _simplify(module, machine)
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    # most loops here are short: vectors are for those that say nothing against it, and for numbers beside each other,
    # which is an eighth of the compiling; copies only take compiling
    options.slp_vectorization, options.loop_unrolling = True, False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _simplify(module: Any, machine: Any) -> None:
    """What takes half of the work from LLVM's own pipeline: functions marked so into their callers, and no more words
    than are needed."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_dead_arg_elimination_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_loop_rotate_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1)))


@lru_cache(maxsize=1)
def _linker() -> Any:
    """LLVM's JITLink, which puts all of an object in one place.

    In a large process, free places are further apart than the 32 bits of a distance in code, and LLVM's older linker,
    the only one on Windows, ends the process there.
    """
    linker = llvm.create_lljit_compiler(_new_machine(), use_jit_link=sys.platform != "win32")
    linker._owned = True  # when Python ends, what frees libraries may come after whatever would free this
    return linker


def load_objects(objects: Sequence[bytes], facts: dict[str, Any]) -> Native:
    """Machine code of object files linked with each other and the C library."""
    library = llvm.JITLibraryBuilder().add_current_process()
    for code in objects:
        library.add_object_img(code)
    with building():
        return Native(facts, library.link(_linker(), f"library {next(_NUMBERS)}"))


def pack(objects: Sequence[bytes], facts: dict[str, Any]) -> bytes:
    """Objects and facts as one cache entry."""
    header = json.dumps({"facts": facts, "sizes": [len(o) for o in objects]}).encode()
    return struct.pack("<I", len(header)) + header + b"".join(objects)


def unpack(payload: bytes) -> tuple[list[bytes], dict[str, Any]]:
    """The objects and facts of a cache entry."""
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    objects, start = [], 4 + length
    for size in header["sizes"]:
        objects.append(payload[start : start + size])
        start += size
    return objects, header["facts"]


def known(key: str) -> bytes | None:
    """A cache entry, or None when there is none that can be used."""
    payload = cache.load(key)
    try:
        return payload if payload is not None and unpack(payload) else None
    except (struct.error, ValueError, KeyError, TypeError):
        return None


def load(payload: bytes) -> Native:
    """Machine code of a cache entry."""
    return load_objects(*unpack(payload))


def cached(key: str) -> Native | None:
    """Machine code of a cache entry, or None when there is none that can be used."""
    payload = known(key)
    return None if payload is None else load(payload)


def native(key: str, objects: Callable[[], Sequence[bytes]]) -> Native:
    """Machine code without facts: of a cache entry, or of ``objects()``, which are then kept as that."""
    found = cached(key)
    if found is None:
        made = objects()
        cache.store(key, pack(made, {}))
        found = load_objects(made, {})
    return found


def object_code(text: str) -> bytes:
    """Object code of one IR module, kept under its text."""
    key = cache.key_of("text", text, environment(), cache.source_fingerprint())
    entry = known(key) or cache.stored(key, pack(compile_modules([text]), {}))
    return unpack(entry)[0][0]


@lru_cache(maxsize=64)
def _prototype(arguments: int, hold_gil: bool) -> Any:
    """Of functions of so many integers or pointers: a class, which takes longer to make than all else."""
    prototype = ctypes.PYFUNCTYPE if hold_gil else ctypes.CFUNCTYPE
    return prototype(ctypes.c_int64, *[ctypes.c_void_p] * arguments)


def function(native: Native, name: str, arguments: int, hold_gil: bool) -> Callable[..., int]:
    """The compiled function ``name`` of ``arguments`` integers or pointers.

    hold_gil: calls of microseconds keep Python's lock, which is faster; long ones release it.
    """
    call: Any = _prototype(arguments, hold_gil)(native.address(name))
    call.native = native  # keeps the machine code alive as long as the function
    return cast(Callable[..., int], call)
