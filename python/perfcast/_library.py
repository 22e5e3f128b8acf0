"""The shared library, and its errors as exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Callable, Optional

_SONAME = "libperfcast.so.1"


class PerfcastError(Exception):
    """What perfcast says went wrong.

    code: for programs, such as "unknown-device"; message: what was found, in a sentence; where: a field, or a file and
    line; allowed: what would be valid, or what to do. where and allowed may be empty.
    """

    def __init__(self, code: str, message: str, where: str = "", allowed: str = "") -> None:
        super().__init__(code, message, where, allowed)
        self.code = code
        self.message = message
        self.where = where
        self.allowed = allowed

    def __str__(self) -> str:
        parts = [self.message]
        if self.where:
            parts.append(f"  where:    {self.where}")
        if self.allowed:
            parts.append(f"  expected: {self.allowed}")
        return "\n".join(parts)


def _open_library() -> ctypes.CDLL:
    # The one that is asked for, that of the wheel, or the system's.
    asked = os.environ.get("PERFCAST_LIBRARY")
    inside = pathlib.Path(__file__).with_name("lib") / _SONAME
    path = asked or (str(inside) if inside.is_file() else _SONAME)
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise PerfcastError(
            "no-library",
            f"the library of perfcast can't be loaded: {problem}",
            path,
            "perfcast's Debian package or its wheel; or PERFCAST_LIBRARY=FILE",
        ) from problem
    text, error = ctypes.c_char_p, ctypes.c_void_p
    out_text = ctypes.POINTER(ctypes.c_void_p)
    for name, result, arguments in (
        ("perfcast_version", text, []),
        ("perfcast_open", error, [text, ctypes.POINTER(ctypes.c_void_p)]),
        ("perfcast_close", None, [ctypes.c_void_p]),
        ("perfcast_call", error, [ctypes.c_void_p, text, text, out_text]),
        ("perfcast_free_text", None, [ctypes.c_void_p]),
        ("perfcast_error_code", text, [error]),
        ("perfcast_error_message", text, [error]),
        ("perfcast_error_where", text, [error]),
        ("perfcast_error_allowed", text, [error]),
        ("perfcast_free_error", None, [error]),
    ):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


class Library:
    """The functions of perfcast.h that this module needs."""

    def __init__(self) -> None:
        self._c = _open_library()

    def version(self) -> str:
        return self._c.perfcast_version().decode()

    def _check(self, error: Optional[int]) -> None:
        if not error:
            return
        read: Callable[[str], str] = lambda part: getattr(self._c, f"perfcast_error_{part}")(error).decode(
            errors="replace"
        )
        try:
            raise PerfcastError(read("code"), read("message"), read("where"), read("allowed"))
        finally:
            self._c.perfcast_free_error(error)

    def open(self, bundle: Optional[str]) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._check(self._c.perfcast_open(None if bundle is None else os.fsencode(bundle), ctypes.byref(handle)))
        return handle

    def close(self, handle: ctypes.c_void_p) -> None:
        self._c.perfcast_close(handle)

    def call(self, handle: ctypes.c_void_p, operation: str, request: bytes) -> bytes:
        answer = ctypes.c_void_p()
        self._check(self._c.perfcast_call(handle, operation.encode(), request, ctypes.byref(answer)))
        try:
            return ctypes.string_at(answer)  # type: ignore[arg-type]
        finally:
            self._c.perfcast_free_text(answer)
