"""Fixtures of the benchmark tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

from benchmarks import machine


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use one thread: small work on several spinning thread pools is slow on a busy machine."""
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")
    with threadpool_limits(1):
        yield
