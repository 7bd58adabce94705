"""One Dask cluster of two worker processes for all contract tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.two_workers import two_workers


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    pytest.importorskip("distributed")
    with two_workers() as client:
        yield client
