"""Fits of a program under each instruction set, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np


@cache
def arrays_of(program: str, isa: str) -> dict[str, Any]:
    """The arrays that ``program`` writes to standard output with ``np.savez``, under ``isa``."""
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CEIBA_ISA": isa},
        capture_output=True,
        timeout=120,
        check=True,
    )
    return dict(np.load(BytesIO(process.stdout)))
