"""Golden model files: parametrizations, and loading with the expected results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceiba.export import load
from tests.paths import GOLDEN_FILES

MAPPED = pytest.mark.parametrize("mmap", [False, True])


def golden_paths(kind: str) -> list[Path]:
    """Return the files of a kind of model."""
    return sorted(GOLDEN_FILES.glob(f"model-v*-{kind}*.ceiba"))


def each(kind: str) -> Any:
    """Return a parametrization by the files of a kind of model."""
    return pytest.mark.parametrize("path", golden_paths(kind), ids=lambda path: path.stem)


def golden(path: Path, mmap: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Return the model with its parameters checked, the rows to predict, and expected results."""
    expected = json.loads(path.with_suffix(".json").read_text())
    model = load(path, mmap=mmap)
    for name, value in expected["parameters"].items():
        assert getattr(model, name) == value
    assert hasattr(model, "trace_") == getattr(model, "trace", False)
    rows, dtype = expected["rows"], expected["dtype"]
    return model, rows if dtype is None else np.array(rows, dtype), expected
