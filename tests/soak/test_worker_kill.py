"""A worker killed at twenty different moments of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# The fit itself is the contract test's.
from tests.contracts.two_workers import two_workers
from tests.contracts.worker_kill import MODELS, check_killed_fit

pytest.importorskip("distributed")

pytestmark = [pytest.mark.dask, pytest.mark.soak]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with two_workers() as client:
        yield client


@pytest.mark.parametrize("moment", range(20))
@pytest.mark.parametrize("name", MODELS)
def test_a_worker_killed_at_any_moment_changes_no_bit(
    client: Any, tmp_path: Path, name: str, moment: int
) -> None:
    check_killed_fit(client, name, tmp_path, share=moment / 25)
