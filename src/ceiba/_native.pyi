"""Native kernels of Ceiba: typed arrays in, typed arrays out."""

from collections.abc import Sequence
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

@overload
def mixture_moments(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], covariances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pivots: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], first: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], *, gaps: bool = False, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, draw: tuple[int, int, int] | None = None, threads: int = 1) -> float: ...

@overload
def mixture_moments(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], covariances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pivots: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], first: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], *, gaps: bool = False, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, shares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, draw: tuple[int, int, int] | None = None, threads: int = 1) -> float:
    """
    Expected moments of every component about the pivots (E step of a mixture).

    Responsibilities are those of the model, or given: a label a row, shares, or a draw
    (seed, stream, first row). Returns the log-likelihood (0 where they are given).
    """

@overload
def mixture_posteriors(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], covariances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, gaps: bool = False, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, log_density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, posteriors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, threads: int = 1) -> None: ...

@overload
def mixture_posteriors(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], covariances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, gaps: bool = False, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, log_density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, posteriors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, threads: int = 1) -> None:
    """
    What a mixture says of each row: log density, posteriors, the likeliest component.
    """

@overload
def gap_patterns(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]: ...

@overload
def gap_patterns(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Rows sorted by which columns they miss, and where each pattern starts (and the end).
    """

def tree_rank(arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], threads: int) -> tuple:
    """
    Ranks of all values: codes (columns x rows), and how many a column has.
    """

def tree_edges(arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bins: int, threads: int) -> tuple:
    """
    Bins by weight, finer in the tails: how many codes a column has, and their upper edges.
    """

def tree_bin(arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], n_codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> object:
    """Bins of all values: codes (columns x rows)."""

@overload
def tree_values(arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.uint64]: ...

@overload
def tree_values(arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.uint64]: ...

@overload
def tree_values(arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.uint64]:
    """Values of some codes of each numeric column, as bits."""

class TreeRules:
    """How a tree is grown."""

    def __init__(self) -> None: ...

    @property
    def criterion(self) -> int: ...

    @criterion.setter
    def criterion(self, arg: int, /) -> None: ...

    @property
    def gaps(self) -> int: ...

    @gaps.setter
    def gaps(self, arg: int, /) -> None: ...

    @property
    def cuts(self) -> int: ...

    @cuts.setter
    def cuts(self, arg: int, /) -> None: ...

    @property
    def growing(self) -> int: ...

    @growing.setter
    def growing(self, arg: int, /) -> None: ...

    @property
    def reuse(self) -> int: ...

    @reuse.setter
    def reuse(self, arg: int, /) -> None: ...

    @property
    def multiway(self) -> bool: ...

    @multiway.setter
    def multiway(self, arg: bool, /) -> None: ...

    @property
    def empty(self) -> bool: ...

    @empty.setter
    def empty(self, arg: bool, /) -> None: ...

    @property
    def two(self) -> bool: ...

    @two.setter
    def two(self, arg: bool, /) -> None: ...

    @property
    def guard(self) -> bool: ...

    @guard.setter
    def guard(self, arg: bool, /) -> None: ...

    @property
    def mdl(self) -> bool: ...

    @mdl.setter
    def mdl(self, arg: bool, /) -> None: ...

    @property
    def least_rows(self) -> int: ...

    @least_rows.setter
    def least_rows(self, arg: int, /) -> None: ...

    @property
    def least_weight(self) -> int: ...

    @least_weight.setter
    def least_weight(self, arg: int, /) -> None: ...

    @property
    def most_least(self) -> int: ...

    @most_least.setter
    def most_least(self, arg: int, /) -> None: ...

    @property
    def cut_share(self) -> float: ...

    @cut_share.setter
    def cut_share(self, arg: float, /) -> None: ...

    @property
    def real_unit(self) -> float: ...

    @real_unit.setter
    def real_unit(self, arg: float, /) -> None: ...

    @property
    def n_cuts(self) -> int: ...

    @n_cuts.setter
    def n_cuts(self, arg: int, /) -> None: ...

    @property
    def exact_values(self) -> bool: ...

    @exact_values.setter
    def exact_values(self, arg: bool, /) -> None: ...

    @property
    def intervals(self) -> int: ...

    @intervals.setter
    def intervals(self, arg: int, /) -> None: ...

    @property
    def factors(self) -> list[float]: ...

    @factors.setter
    def factors(self, arg: Sequence[float], /) -> None: ...

    @property
    def classes(self) -> int: ...

    @classes.setter
    def classes(self, arg: int, /) -> None: ...

    @property
    def weighted(self) -> bool: ...

    @weighted.setter
    def weighted(self, arg: bool, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def least_to_split(self) -> int: ...

    @least_to_split.setter
    def least_to_split(self, arg: int, /) -> None: ...

    @property
    def max_leaves(self) -> int: ...

    @max_leaves.setter
    def max_leaves(self, arg: int, /) -> None: ...

    @property
    def columns_a_node(self) -> int: ...

    @columns_a_node.setter
    def columns_a_node(self, arg: int, /) -> None: ...

    @property
    def many_levels(self) -> float: ...

    @many_levels.setter
    def many_levels(self, arg: float, /) -> None: ...

    @property
    def surrogates(self) -> int: ...

    @surrogates.setter
    def surrogates(self, arg: int, /) -> None: ...

    @property
    def least_decrease(self) -> float: ...

    @least_decrease.setter
    def least_decrease(self, arg: float, /) -> None: ...

    @property
    def enough(self) -> float: ...

    @enough.setter
    def enough(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def weight_unit(self) -> float: ...

    @weight_unit.setter
    def weight_unit(self, arg: float, /) -> None: ...

    @property
    def target_unit(self) -> float: ...

    @target_unit.setter
    def target_unit(self, arg: float, /) -> None: ...

    @property
    def square_unit(self) -> float: ...

    @square_unit.setter
    def square_unit(self, arg: float, /) -> None: ...

    @property
    def centre(self) -> float: ...

    @centre.setter
    def centre(self, arg: float, /) -> None: ...

    @property
    def candidates(self) -> bool: ...

    @candidates.setter
    def candidates(self, arg: bool, /) -> None: ...

class TreeColumns:
    """How columns are coded."""

    def __init__(self, *, n_codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], nominal: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, first_cut: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class TreeTargets:
    """Targets of rows, in fixed point."""

    def __init__(self, *, label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, number: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, square: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, ranked: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, plain: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class TreeOrder:
    """The rows of every column, in order."""

@overload
def tree_presort(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, threads: int) -> TreeOrder: ...

@overload
def tree_presort(codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, threads: int) -> TreeOrder: ...

@overload
def tree_presort(codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, threads: int) -> TreeOrder:
    """
    Put the rows of every column in order once, for many trees on the same codes.
    """

@overload
def tree_grow(rules: TreeRules, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, sorted: TreeOrder | None = None) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]: ...

@overload
def tree_grow(rules: TreeRules, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, sorted: TreeOrder | None = None) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]: ...

@overload
def tree_grow(rules: TreeRules, codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, sorted: TreeOrder | None = None) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
    """
    Grow a tree on coded rows in memory, from its root or from the state of one begun.
    """

@overload
def tree_level_sums(rules: TreeRules, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, slot: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def tree_level_sums(rules: TreeRules, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, slot: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def tree_level_sums(rules: TreeRules, codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, slot: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Add the rows of every slot into the cells of (slot, column, code)."""

@overload
def tree_places(rules: TreeRules, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def tree_places(rules: TreeRules, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]], codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def tree_places(rules: TreeRules, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]], codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """The node of a growing tree that every coded row has come to."""

def tree_solve_level(rules: TreeRules, columns: TreeColumns, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], least: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
    """Split nodes by the sums of their rows; the new state."""

def tree_reasons(state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]]) -> NDArray[numpy.uint8]:
    """Reason of every node."""

def tree_cuts(rules: TreeRules, columns: TreeColumns, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]]) -> tuple:
    """Columns and codes on both sides of every cut."""

def tree_pack(rules: TreeRules, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]], types: Sequence[int], levels: Sequence[int], scale: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> dict:
    """
    The finished tree: its prediction and side arrays, numbered in growing order.
    """

def tree_check(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Sequence[int], levels: Sequence[int]) -> str:
    """
    What is wrong with a tree for rows of such columns; empty where nothing is.
    """

@overload
def tree_route_matrix(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], width: int, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def tree_route_matrix(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], width: int, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The leaf of every row of floats, in a tree that tree_check has passed for them.
    """

def tree_route_columns(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    The leaf of every row of columns, in a tree that tree_check has passed for them.
    """

class TreeErrorRules:
    """What errors are expected of a leaf, and how."""

    def __init__(self) -> None: ...

    @property
    def confidence(self) -> float: ...

    @confidence.setter
    def confidence(self, arg: float, /) -> None: ...

    @property
    def deviate(self) -> float: ...

    @deviate.setter
    def deviate(self, arg: float, /) -> None: ...

    @property
    def raising(self) -> bool: ...

    @raising.setter
    def raising(self, arg: bool, /) -> None: ...

    @property
    def classes(self) -> int: ...

    @classes.setter
    def classes(self, arg: int, /) -> None: ...

def tree_prune_errors(rules: TreeErrorRules, nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: bool, surrogates: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, first_surrogate: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, threads: int) -> dict:
    """
    A tree after error-based pruning, as nodes of the old one, and the steps taken.
    """

def tree_weakest_links(risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], open: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], near: float) -> tuple:
    """
    From which price on open nodes are better leaves; and those that go by themselves.
    """

def tree_check_presence(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Sequence[int]) -> str:
    """
    What is wrong with the levels of a tree whose gaps do not have one branch.
    """

def tree_check_surrogates(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], surrogates: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], types: Sequence[int], levels: Sequence[int]) -> str:
    """What is wrong with the surrogates of a tree; empty where nothing is."""

def tree_route_surrogates(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], surrogates: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """The leaf of every row in a tree whose gaps follow surrogates."""

def tree_mean_ways(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], said: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    What rows are told by all leaves they come to, where gaps go every way.
    """

def tree_weigh_ways(nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """Add the rows to the leaves they come to, by their shares."""

class ForestSampling:
    """How rows are drawn for a tree."""

    def __init__(self, *, rows: int, draws: int, replace: bool, every: bool, weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def counts(self, seed: int) -> NDArray[numpy.int64]:
        """How often each row is in the bag of a seed."""

    def drawn(self, seed: int) -> NDArray[numpy.uint32]:
        """The rows in the order in which they are drawn."""

@overload
def forest_grow(rules: TreeRules, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, sampling: ForestSampling, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns_a_tree: int, least_share: float, balanced: float, types: Sequence[int], levels: Sequence[int], scale: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: bool, threads: int) -> dict: ...

@overload
def forest_grow(rules: TreeRules, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, sampling: ForestSampling, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns_a_tree: int, least_share: float, balanced: float, types: Sequence[int], levels: Sequence[int], scale: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: bool, threads: int) -> dict: ...

@overload
def forest_grow(rules: TreeRules, codes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: TreeColumns, targets: TreeTargets, sampling: ForestSampling, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns_a_tree: int, least_share: float, balanced: float, types: Sequence[int], levels: Sequence[int], scale: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: bool, threads: int) -> dict:
    """
    Grow a tree for each seed on coded rows in memory; the arrays of a forest.
    """

def keyed(seed: int, stream: int, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint64]:
    """64 random bits for each number."""

def forest_columns(seed: int, columns: int, wanted: int, replace: bool) -> NDArray[numpy.int32]:
    """
    Columns that a member draws: ascending, or with replacement as they are drawn.
    """

class ForestArrays:
    """The arrays of a forest, checked once."""

    def __init__(self, nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, steps: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, types: Sequence[int], levels: Sequence[int]) -> None: ...

    @property
    def first_leaf(self) -> list[int]:
        """Where the bytes of each tree's leaves begin, and their end."""

class ForestRows:
    """Rows that a forest is asked about."""

    @overload
    def __init__(self, arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], gaps: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], types: Sequence[int], levels: Sequence[int]) -> None: ...

    @overload
    def __init__(self, matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def __init__(self, matrix: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

class ForestTargets:
    """What is to be predicted, of every row."""

    def __init__(self, *, label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, balanced: bool = False, scale: float = 1.0) -> None: ...

def forest_class_weights(forest: ForestArrays, tree: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Weights of the classes in the leaves of a tree, in units; zero in its other nodes.
    """

def forest_apply(forest: ForestArrays, rows: ForestRows, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """The leaf of every (row, tree)."""

def forest_tell(forest: ForestArrays, rows: ForestRows, added: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    The mean of what the trees say: class shares, with `added` to each, or numbers.
    """

def forest_out_of_bag(forest: ForestArrays, rows: ForestRows, sampling: ForestSampling, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: ForestTargets, added: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sum: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], count: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], known: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], loss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Sums of what trees say of rows out of their bags, and the losses tree by tree.
    """

def forest_permuted(forest: ForestArrays, rows: ForestRows, sampling: ForestSampling, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: ForestTargets, repeats: int, sum: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], count: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    How much more every row loses with each column permuted, over the trees.
    """

def forest_corrected(forest: ForestArrays, rows: ForestRows, sampling: ForestSampling, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: ForestTargets, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Decrease of impurity by every (tree, column), told by rows out of the bag.
    """

def forest_quantiles(target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Quantiles of the training targets that share the leaves of every row."""
