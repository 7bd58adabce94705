"""A Dask cluster of two worker processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def two_workers() -> Iterator[Any]:
    """Yield a client of the cluster, current only inside ``client.as_current()``."""
    import dask
    from distributed import Client, LocalCluster

    # A killed worker may be slow to come back; Dask would drop it after 15 seconds.
    patient = {"distributed.deploy.lost-worker-timeout": "1h"}
    with (
        dask.config.set(patient),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
