"""Native kernels of Ceiba: typed arrays in, typed arrays out."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def max_threads() -> int:
    """Threads that OpenMP allows in this process; 1 in a forked child."""

def forked() -> bool:
    """Whether this process is a forked child."""

def instruction_set() -> str:
    """Instruction set of the kernels in use."""

def uniforms(seed: int, stream: int, first: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill out with the uniform draws of (seed, stream, row), rows first, first + 1, ...
    """

def remembered_size(n: int, k: int, d: int) -> int:
    """Numbers that centre_sums remembers for n rows of d columns."""

@overload
def moments(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[int, int, int]: ...

@overload
def moments(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[int, int, int]:
    """
    Per column: weight, mean, centred squares, least and most, into out (5 x d).

    Returns (gaps, row and column of the first infinity), -1 for none.
    """

@overload
def centre_sums(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gaps: bool, *, previous: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, upper: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None, lower: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None, memory: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, squared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, want_inertia: bool = False, threads: int = 1) -> tuple[float, int, int]: ...

@overload
def centre_sums(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gaps: bool, *, previous: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, upper: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None, lower: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None, memory: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, squared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, want_inertia: bool = False, threads: int = 1) -> tuple[float, int, int]:
    """
    Label every row with its nearest centre and sum the rows of each (E step of k-means).

    Without previous centres the row state (labels, bounds, memory) is only written.
    Returns (inertia, rows that changed label, rows that looked at every centre).
    """

@overload
def squared_distances(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gaps: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def squared_distances(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centres: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gaps: bool, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Squared distance of every row to every centre; with gaps scaled by columns / observed.
    """

@overload
def race(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gaps: bool, chosen: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, settled: int, seed: int, stream: int, first_row: int, potential: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None: ...

@overload
def race(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gaps: bool, chosen: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None, settled: int, seed: int, stream: int, first_row: int, potential: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    One heat of greedy k-means++: potentials of the candidates and, for each, who runs next.
    """
