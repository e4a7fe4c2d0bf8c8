"""Progress that is shown without a function of one's own."""

from __future__ import annotations

import sys
import time
from typing import Any

# Seconds between two lines.
PAUSE_S = 5.0


class Bar:
    """A bar of tqdm, or lines on standard error if tqdm is not installed."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._next_line = time.monotonic() + PAUSE_S
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self._tqdm: Any = tqdm

    def __call__(self, done: int, total: int) -> None:
        if self._tqdm is None:
            self._line(done, total)
            return
        if self._bar is None:
            self._bar = self._tqdm(initial=done, total=total, unit="run")
        self._bar.update(done - self._bar.n)
        if done == total:
            self._bar.close()

    def _line(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + PAUSE_S
            print(f"{done} of {total} runs", file=sys.stderr)
