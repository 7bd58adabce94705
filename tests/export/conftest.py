from __future__ import annotations

import pytest

from ceiba import ESTIMATORS


@pytest.fixture
def toys(monkeypatch):
    """Let model files name the tests' own estimator."""
    monkeypatch.setitem(ESTIMATORS, "Toy", "tests.export.toy_model")
