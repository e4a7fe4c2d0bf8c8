"""The end of algorithms that do not return."""

from __future__ import annotations

import ctypes


def interrupt(thread: int) -> None:
    """Raise KeyboardInterrupt in another thread, by its identifier, at its next step in Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
