"""Fixtures that all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.paths import ROOT

# Folders whose tests do not guard a change of the library: the code of the benchmarks, and the
# naive versions that are oracles themselves.
SLOW_FOLDERS = (ROOT / "tests" / "benchmarks", ROOT / "tests" / "oracles")


def pytest_configure() -> None:
    """Accept Ctrl-C even where the shell started the tests in the background, ignoring it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of the slow folders, before ``-m`` selects."""
    for item in items:
        if any(folder in item.path.parents for folder in SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Client of one Dask cluster in this process, current only inside ``client.as_current()``."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    options = {
        "distributed.comm.timeouts.connect": "10s",
        "distributed.worker.memory.target": False,
    }
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def current_client(client: Any) -> Iterator[Any]:
    """The same client, current for the whole test."""
    with client.as_current():
        yield client
