from __future__ import annotations

import pytest

from ceiba.export import registry


@pytest.fixture
def toys(monkeypatch):
    """Let model files name the tests' own estimator."""
    monkeypatch.setitem(registry.ESTIMATORS, "Toy", "tests.export.toy_model")
