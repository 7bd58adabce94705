"""A worker killed in mid-fit costs time, not the fit, and not a bit of the model."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.engine import PartitionError
from tests.budget import first_of
from tests.contracts.worker_kill import MODELS, check_killed_fit

da = pytest.importorskip("dask.array")

pytestmark = [pytest.mark.dask, pytest.mark.xdist_group("dask")]


@pytest.mark.parametrize("name", first_of(MODELS))
def test_a_killed_worker_changes_no_bit(client: Any, tmp_path: Path, name: str) -> None:
    check_killed_fit(client, name, tmp_path, share=0.5)


def _set_allowed_failures(number: int, dask_scheduler: Any = None) -> int:
    before: int = dask_scheduler.allowed_failures
    dask_scheduler.allowed_failures = number
    return before


@pytest.fixture
def strict_client(client: Any) -> Iterator[Any]:
    """A partition whose worker dies is not tried on another one."""
    client.wait_for_workers(2, timeout=60)
    before = client.run_on_scheduler(_set_allowed_failures, 0)
    yield client
    client.run_on_scheduler(_set_allowed_failures, before)


def die(block: Any) -> Any:
    if not len(block):  # dask asks for the type of the result in this process
        return block
    os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_partition_that_kills_its_workers_is_named(strict_client: Any) -> None:
    # One partition: of several that wait on a dead worker Dask cannot tell which one killed it.
    X = da.from_array(np.eye(4), chunks=(4, 4)).map_blocks(die, dtype=float)
    with (
        strict_client.as_current(),
        pytest.raises(PartitionError, match=r"partition 0 of the Dask array: .* workers died"),
    ):
        ceiba.KMeans(2, n_jobs=1).fit(X)
