"""Native kernels of Ceiba: typed arrays in, typed arrays out."""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def max_threads() -> int:
    """Return the number of threads that OpenMP allows; 1 in a forked child."""

def startable_threads(wanted: int) -> int:
    """Return how many threads, up to wanted, the process could start now."""

def forked() -> bool:
    """Return whether this process is a forked child."""

def instruction_set() -> str:
    """Return the instruction set of the kernels in use."""

def uniforms(seed: int, stream: int, first: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Fill out with uniform draws keyed by (seed, stream, first + i)."""

def keyed_bits(seed: int, stream: int, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint64]:
    """Return 64 random bits keyed by (seed, stream, number) for each number."""

class DrawKey:
    """Key of one random draw per row."""

    def __init__(self, seed: int, stream: int, first_row: int) -> None: ...

def moments(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> tuple[int, int, int]:
    """
    Write weight, mean, centered squares, min and max of each column to out (5 x d).

    Returns (n_missing, row and column of the first infinity), -1 for none.
    """

class KMeansPoints:
    """Rows to cluster, relative to an offset."""

    def __init__(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], has_missing: bool) -> None: ...

class KMeansState:
    """Labels, bounds and sums of an iteration, for the next one."""

    def __init__(self, *, previous: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, upper: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None, lower: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None, segment_sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> None: ...

class CandidateDraws:
    """Potential of each candidate, and the rows drawn after it."""

    def __init__(self, potential: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], keys: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

def segment_sums_size(n_rows: int, n_centers: int, n_columns: int) -> int:
    """Return the size of KMeansState.segment_sums."""

def center_sums(points: KMeansPoints, centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], state: KMeansState | None = None, *, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, squared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, compute_inertia: bool = False, threads: int = 1) -> tuple[float, int, int]:
    """
    Label each row with its nearest center and sum the rows of each (E step of k-means).

    A state without previous centers is only written. Returns (inertia, number of rows whose
    label changed, number of rows that were compared with all centers).
    """

def squared_distances(points: KMeansPoints, centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Write the squared distance of each row to each center to out.

    With missing values they are scaled by n_columns / n_observed.
    """

def next_candidates(points: KMeansPoints, chosen: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], key: DrawKey, nearest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None, n_cached: int, out: CandidateDraws, threads: int) -> None:
    """
    Compute the potential of each candidate of greedy k-means++ and draw the next.

    nearest holds squared distances to the nearest of the first n_cached centers.
    """

class GaussianComponents:
    """Parameters of a mixture; factors are inverse Cholesky factors."""

    def __init__(self, log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], covariances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

class MissingPatterns:
    """Rows grouped by the columns that they miss."""

    def __init__(self, has_missing: bool, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class Responsibilities:
    """
    Given responsibilities: a label per row, values, or the key of random ones.
    """

    def __init__(self, *, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, key: DrawKey | None = None) -> None: ...

class MomentSums:
    """Moments of the components about the pivots."""

    def __init__(self, pivots: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], first: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

def mixture_moments(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, model: GaussianComponents, sums: MomentSums, patterns: MissingPatterns | None = None, responsibilities: Responsibilities | None = None, *, threads: int = 1) -> float:
    """
    Compute the expected moments of the components (E step of a mixture).

    Responsibilities are those of the model unless given. Returns the log-likelihood,
    0 with given responsibilities.
    """

def mixture_posteriors(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], model: GaussianComponents, patterns: MissingPatterns | None = None, *, log_density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, posteriors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, threads: int = 1) -> None:
    """
    Compute log density, posteriors and most probable component of each row.
    """

def missing_patterns(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Return the rows ordered by missing pattern, and the start of each pattern.
    """

class Families:
    """Features with their feature parents."""

    def __init__(self, features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], strides: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class LogLinear:
    """Log joint: bias plus the weights of the families' table rows."""

    def __init__(self, families: Families, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums_missing: bool = False) -> None: ...

class CodedRows:
    """Codes, class indices and weights of rows."""

    def __init__(self, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int) -> None: ...

class ClassWeighting(enum.Enum):
    """What a row adds to each class."""

    RESIDUALS = 0

    LABELS = 1

    POSTERIORS = 2

    INFORMATION = 3

def bayes_family_counts(rows: CodedRows, families: Families, counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int = 1) -> None:
    """Sum the weight of each table row and class."""

def bayes_pair_counts(rows: CodedRows, sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block: tuple[int, int, int, int], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int = 1) -> None:
    """
    Sum the weight of each pair of codes and class, for the pairs of a block.
    """

def bayes_pair_dependence(counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block: tuple[int, int, int, int], n_classes: int, information: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], degrees: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Compute the conditional mutual information of the pairs of a block."""

def bayes_log_joint(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], model: LogLinear, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int = 1) -> None:
    """Compute log p(c, x) of each row and class."""

def bayes_normalize(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], logarithms: bool, threads: int = 1) -> None:
    """
    Turn log scores into probabilities of the classes, or their logarithms.
    """

def bayes_largest(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], threads: int = 1) -> None:
    """Compute the index of the largest score of each row."""

class TableSumArrays:
    """Output of bayes_table_sums."""

    def __init__(self, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], table_variances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None: ...

def bayes_table_sums(rows: CodedRows, model: LogLinear, target: Families | None, weighting: ClassWeighting, class_means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: TableSumArrays, threads: int = 1) -> float:
    """
    Sum class weights by table row and class; return the objective of the weighting.
    """

def bayes_log_likelihoods(rows: CodedRows, model: LogLinear, direction: LogLinear, steps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_likelihoods: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int = 1) -> None:
    """
    Compute the conditional log-likelihood at several steps along a direction.
    """

def bayes_table_indices(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], families: Families, out: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu')], threads: int = 1) -> None:
    """Compute the table row of each row and family, at most 2^16 of them."""

class IndexedRows:
    """Table rows, class indices and weights of rows."""

    def __init__(self, indices: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int) -> None: ...

def bayes_softmax_gradient(rows: IndexedRows, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table_gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], bias_gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int = 1) -> float:
    """
    Compute the gradient of the conditional log-likelihood, and return the latter.
    """

def bayes_softmax_likelihoods(rows: IndexedRows, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table_direction: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias_direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_likelihoods: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int = 1) -> None:
    """
    Compute the conditional log-likelihood at several steps along a direction.
    """

def bayes_class_sums(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int = 1) -> None:
    """
    Sum weights, values and squared values of each class and column, in three doubles each; the last row has the weight of nonzero values. The array must be zero.
    """

def bayes_centered_moments(weight: Annotated[NDArray[numpy.float64], dict(shape=(3, None, None), order='C', device='cpu', writable=False)], sum: Annotated[NDArray[numpy.float64], dict(shape=(3, None, None), order='C', device='cpu', writable=False)], squares: Annotated[NDArray[numpy.float64], dict(shape=(3, None, None), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Compute mean and centered squares of each class and column from sums of three doubles.
    """

def bayes_add_log_normals(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], constants: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int = 1) -> None:
    """
    Add constant - ((x - mean) * factor)^2 of every observed value to each class.
    """

class MetricKind(enum.Enum):
    """A distance between rows."""

    EUCLIDEAN = 0

    MANHATTAN = 1

    CHEBYSHEV = 2

    MINKOWSKI = 3

    CANBERRA = 4

    BRAY_CURTIS = 5

    HAVERSINE = 6

    HAMMING = 7

    JACCARD = 8

    DICE = 9

    ROGERS_TANIMOTO = 10

    RUSSELL_RAO = 11

    SOKAL_SNEATH = 12

    YULE = 13

class MissingRule(enum.Enum):
    """What a missing value adds to a distance."""

    NONE = 0

    PARTIAL = 1

    MISMATCH = 2

class Metric:
    """A distance with its settings by column."""

    def __init__(self, kind: MetricKind, p: float = 2.0, mismatch: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, missing: MissingRule = MissingRule.NONE) -> None: ...

class Queries:
    """Rows whose neighbors are searched."""

    def __init__(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, factor: float = 1.0, offset: float = 0.0, excluded: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class Nearest:
    """The nearest rows found so far."""

    def __init__(self, distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def neighbors_build(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_rows: int, mismatch: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int = 1) -> tuple: ...

@overload
def neighbors_build(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_rows: int, mismatch: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int = 1) -> tuple:
    """
    Order rows by the leaves of a tree, and return the order and the boxes.
    """

@overload
def neighbors_tiles(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_rows: int, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> object: ...

@overload
def neighbors_tiles(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_rows: int, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> object:
    """Return the rows of the leaves as tiles."""

@overload
def neighbors_products(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_rows: int, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple: ...

@overload
def neighbors_products(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_rows: int, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple:
    """
    Return tiles of differences from the centers of the leaves, half of their squares, the centers and the largest norms.
    """

@overload
def neighbors_search(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Metric, queries: Queries, nearest: Nearest, threads: int = 1) -> int: ...

@overload
def neighbors_search(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Metric, queries: Queries, nearest: Nearest, threads: int = 1) -> int:
    """Update the nearest rows of each query; return the number of distances."""

@overload
def neighbors_radius(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Metric, queries: Queries, radius: float, threads: int = 1) -> tuple: ...

@overload
def neighbors_radius(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Metric, queries: Queries, radius: float, threads: int = 1) -> tuple:
    """Return starts, distances and rows within a radius of each query."""

class BoxTree:
    """Rows in the leaves of a tree of boxes."""

    def __init__(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, leaf_rows: int, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], boxes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], tiles: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, products: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None) -> None: ...

    def search(self, metric: Metric, queries: Queries, nearest: Nearest, threads: int = 1) -> int:
        """Update the nearest rows of each query; return the number of distances."""

    def radius(self, metric: Metric, queries: Queries, radius: float, threads: int = 1) -> tuple:
        """Return starts, distances and rows within a radius of each query."""

class FloatBoxTree:
    """Rows in the leaves of a tree of boxes."""

    def __init__(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, leaf_rows: int, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], boxes: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], tiles: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, products: tuple[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None) -> None: ...

    def search(self, metric: Metric, queries: Queries, nearest: Nearest, threads: int = 1) -> int:
        """Update the nearest rows of each query; return the number of distances."""

    def radius(self, metric: Metric, queries: Queries, radius: float, threads: int = 1) -> tuple:
        """Return starts, distances and rows within a radius of each query."""

@overload
def neighbors_build_vantage(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: Metric | Callable, threads: int = 1) -> tuple: ...

@overload
def neighbors_build_vantage(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: Metric | Callable, threads: int = 1) -> tuple:
    """
    Order rows by leaf; return the order, the vantage points and bounds of nodes.
    """

@overload
def neighbors_search_function(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Callable, queries: Queries, nearest: Nearest) -> int: ...

@overload
def neighbors_search_function(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Callable, queries: Queries, nearest: Nearest) -> int:
    """Update the nearest rows of each query; return the number of distances."""

@overload
def neighbors_radius_function(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Callable, queries: Queries, radius: float) -> tuple: ...

@overload
def neighbors_radius_function(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: Callable, queries: Queries, radius: float) -> tuple:
    """Return starts, distances and rows within a radius of each query."""

class VantageTree:
    """Rows in the leaves of a vantage-point tree."""

    def __init__(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], vantage: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int = 1) -> None: ...

    def search(self, metric: Metric | Callable, queries: Queries, nearest: Nearest, threads: int = 1) -> int:
        """Update the nearest rows of each query; return the number of distances."""

    def radius(self, metric: Metric | Callable, queries: Queries, radius: float, threads: int = 1) -> tuple:
        """Return starts, distances and rows within a radius of each query."""

class FloatVantageTree:
    """Rows in the leaves of a vantage-point tree."""

    def __init__(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], vantage: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int = 1) -> None: ...

    def search(self, metric: Metric | Callable, queries: Queries, nearest: Nearest, threads: int = 1) -> int:
        """Update the nearest rows of each query; return the number of distances."""

    def radius(self, metric: Metric | Callable, queries: Queries, radius: float, threads: int = 1) -> tuple:
        """Return starts, distances and rows within a radius of each query."""

class Criterion(enum.IntEnum):
    """Split criterion."""

    GINI = 0

    ENTROPY = 1

    LOG_LOSS = 1

    GAIN_RATIO = 2

    ERROR = 3

    SQUARED_ERROR = 4

    ABSOLUTE_ERROR = 5

    POISSON = 6

class MissingPolicy(enum.IntEnum):
    """What a split does with missing values."""

    LEARNED = 0

    BRANCH = 1

    MAJORITY = 2

    FRACTIONAL = 3

    SURROGATE = 4

class ThresholdGrid(enum.IntEnum):
    """Candidate thresholds of a numeric column at a node."""

    MIDPOINT = 0

    VALUE = 0

    QUANTILE = 1

    EQUAL_WIDTH = 2

    MEAN = 3

    MEDIAN = 4

    RANDOM = 5

    GIVEN = 6

class FeatureReuse(enum.IntEnum):
    """Columns that may be tested again below a node that tests them."""

    ALL = 0

    NUMERIC = 1

    NONE = 2

class GrowthOrder(enum.IntEnum):
    """Order in which nodes are split."""

    DEPTH_FIRST = 0

    BREADTH_FIRST = 1

    BEST_FIRST = 2

class ColumnType(enum.IntEnum):
    """Type in which the values of a column are stored and compared."""

    FLOAT64 = 0

    FLOAT32 = 1

    INT64 = 2

    UINT64 = 3

    ORDINAL = 4

    NOMINAL = 5

class NodeTest(enum.IntEnum):
    """Kind of test in a packed node."""

    LEAF = 0

    REAL = 1

    INT = 2

    UNSIGNED = 3

    ORDINAL = 4

    MASK = 5
    """Categories of branch 0 as bits of the word."""

    WORDS = 6
    """Categories of branch 0 as bits in words."""

    TABLE = 7
    """Branch of each category in tables."""

    INTERVALS = 8
    """Thresholds in words."""

class LeafReason(enum.IntEnum):
    """
    Why a node is a leaf; OPEN while that is undecided or if it is not stored.
    """

    SPLIT = 0

    PURE = 1

    IMPURITY = 2

    MAX_DEPTH = 3

    MIN_SAMPLES_SPLIT = 4

    NO_SPLIT = 5

    MIN_SAMPLES_LEAF = 6

    MIN_IMPURITY_DECREASE = 7

    MAX_LEAF_NODES = 8

    NO_GAIN = 9

    EMPTY = 10

    PRUNED = 11

    NOT_KEPT = 12

    OPEN = 12

    MONOTONIC_CST = 13

class SearchMethod(enum.IntEnum):
    """Search that found a split."""

    NONE = 0

    THRESHOLD = 1

    ORDERED = 2

    EXHAUSTIVE = 3

    PRINCIPAL = 4

    MEDIAN = 5

    MULTIWAY = 6

    INTERVALS = 7

class TreeConfig:
    """Settings of a tree and of its splits."""

    def __init__(self) -> None: ...

    @property
    def criterion(self) -> Criterion: ...

    @criterion.setter
    def criterion(self, arg: Criterion, /) -> None: ...

    @property
    def missing(self) -> MissingPolicy: ...

    @missing.setter
    def missing(self, arg: MissingPolicy, /) -> None: ...

    @property
    def multiway(self) -> bool: ...

    @multiway.setter
    def multiway(self, arg: bool, /) -> None: ...

    @property
    def empty_branches(self) -> bool: ...

    @empty_branches.setter
    def empty_branches(self, arg: bool, /) -> None: ...

    @property
    def two_branches_suffice(self) -> bool: ...

    @two_branches_suffice.setter
    def two_branches_suffice(self, arg: bool, /) -> None: ...

    @property
    def above_average_gain(self) -> bool: ...

    @above_average_gain.setter
    def above_average_gain(self, arg: bool, /) -> None: ...

    @property
    def mdl_correction(self) -> bool: ...

    @mdl_correction.setter
    def mdl_correction(self, arg: bool, /) -> None: ...

    @property
    def category_correction(self) -> bool: ...

    @category_correction.setter
    def category_correction(self, arg: bool, /) -> None: ...

    @property
    def min_rows(self) -> int: ...

    @min_rows.setter
    def min_rows(self, arg: int, /) -> None: ...

    @property
    def min_weight(self) -> int: ...

    @min_weight.setter
    def min_weight(self, arg: int, /) -> None: ...

    @property
    def max_min_side_weight(self) -> int: ...

    @max_min_side_weight.setter
    def max_min_side_weight(self, arg: int, /) -> None: ...

    @property
    def min_side_fraction(self) -> float: ...

    @min_side_fraction.setter
    def min_side_fraction(self, arg: float, /) -> None: ...

    @property
    def real_unit(self) -> float: ...

    @real_unit.setter
    def real_unit(self, arg: float, /) -> None: ...

    @property
    def threshold_grid(self) -> ThresholdGrid: ...

    @threshold_grid.setter
    def threshold_grid(self, arg: ThresholdGrid, /) -> None: ...

    @property
    def n_thresholds(self) -> int: ...

    @n_thresholds.setter
    def n_thresholds(self, arg: int, /) -> None: ...

    @property
    def exact_values(self) -> bool: ...

    @exact_values.setter
    def exact_values(self, arg: bool, /) -> None: ...

    @property
    def n_intervals(self) -> int: ...

    @n_intervals.setter
    def n_intervals(self, arg: int, /) -> None: ...

    @property
    def monotonic(self) -> list[int]: ...

    @monotonic.setter
    def monotonic(self, arg: Sequence[int], /) -> None: ...

    @property
    def interactions(self) -> list[list[int]]: ...

    @interactions.setter
    def interactions(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def cost_factors(self) -> list[float]: ...

    @cost_factors.setter
    def cost_factors(self, arg: Sequence[float], /) -> None: ...

    @property
    def growth_order(self) -> GrowthOrder: ...

    @growth_order.setter
    def growth_order(self, arg: GrowthOrder, /) -> None: ...

    @property
    def n_classes(self) -> int: ...

    @n_classes.setter
    def n_classes(self, arg: int, /) -> None: ...

    @property
    def weighted(self) -> bool: ...

    @weighted.setter
    def weighted(self, arg: bool, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def min_rows_split(self) -> int: ...

    @min_rows_split.setter
    def min_rows_split(self, arg: int, /) -> None: ...

    @property
    def max_leaves(self) -> int: ...

    @max_leaves.setter
    def max_leaves(self, arg: int, /) -> None: ...

    @property
    def columns_per_node(self) -> int: ...

    @columns_per_node.setter
    def columns_per_node(self, arg: int, /) -> None: ...

    @property
    def feature_reuse(self) -> FeatureReuse: ...

    @feature_reuse.setter
    def feature_reuse(self, arg: FeatureReuse, /) -> None: ...

    @property
    def many_categories(self) -> float: ...

    @many_categories.setter
    def many_categories(self, arg: float, /) -> None: ...

    @property
    def max_surrogates(self) -> int: ...

    @max_surrogates.setter
    def max_surrogates(self, arg: int, /) -> None: ...

    @property
    def min_impurity_decrease(self) -> float: ...

    @min_impurity_decrease.setter
    def min_impurity_decrease(self, arg: float, /) -> None: ...

    @property
    def min_impurity(self) -> float: ...

    @min_impurity.setter
    def min_impurity(self, arg: float, /) -> None: ...

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
    def target_center(self) -> float: ...

    @target_center.setter
    def target_center(self, arg: float, /) -> None: ...

    @property
    def target_factors(self) -> list[float]: ...

    @target_factors.setter
    def target_factors(self, arg: Sequence[float], /) -> None: ...

    @property
    def keep_candidates(self) -> bool: ...

    @keep_candidates.setter
    def keep_candidates(self, arg: bool, /) -> None: ...

THRESHOLD_STREAM: int = 1668641907

FEW_CATEGORIES: int = 10

class ColumnTypes:
    """Types and numbers of categories of columns."""

    def __init__(self, types: Sequence[ColumnType], n_categories: Sequence[int]) -> None: ...

class TreeTable:
    """The columns of a table, in their own types."""

    def __init__(self, arrays: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], missing_masks: Sequence[Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], columns: ColumnTypes) -> None: ...

def tree_rank(table: TreeTable, threads: int) -> tuple:
    """
    Return the ranks of all values (columns x rows) and the number of codes per column.
    """

def tree_bin_edges(table: TreeTable, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_bins: int, threads: int) -> tuple:
    """
    Compute bins by weight, finer in the tails.

    Returns the number of codes per column, the upper edges and their offsets, and
    which edges between integers are one half higher.
    """

def tree_bin(table: TreeTable, n_codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> object:
    """Return the bins of all values (columns x rows)."""

def tree_values(table: TreeTable, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.uint64]:
    """Return the values of the wanted codes of each numeric column, as bits."""

class ColumnEncoding:
    """Meaning of the codes of each column."""

    def __init__(self, n_codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], nominal: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], integer: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], *, representatives: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, distances: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, exact: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, whole_thresholds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, first_threshold: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class TreeTargets:
    """Targets and weights of rows, in fixed point."""

    def __init__(self, *, label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weighted_target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weighted_square: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, distinct_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight_without_costs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class VectorTargets:
    """Several targets of rows, and weights."""

    def __init__(self, *, weighted_target: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, value: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, center: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, unit: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, label: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class DepthSums:
    """Sums of the rows of some nodes at one depth."""

    def __init__(self, cells: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], min_target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], max_target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class PresortedRows:
    """The rows sorted by each column."""

def tree_presort(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, threads: int) -> PresortedRows:
    """Sort the rows by each column once, for many trees on the same codes."""

def tree_grow(config: TreeConfig, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, targets: TreeTargets, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, presorted: PresortedRows | None = None) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
    """
    Grow a tree on encoded rows, from the root or from a state and the rows' nodes.
    """

def tree_grow_vectors(config: TreeConfig, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, targets: VectorTargets, threads: int) -> tuple:
    """
    Grow a tree for several targets; return its state and the nodes' mean targets.
    """

def tree_depth_sums(config: TreeConfig, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, targets: TreeTargets, slots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: DepthSums, threads: int) -> None:
    """Add the rows of each slot to the cells of (slot, column, code)."""

def tree_solve_depth(config: TreeConfig, encoding: ColumnEncoding, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: DepthSums) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
    """Split nodes by the sums of their rows, and return the new state."""

def tree_reasons(state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]]) -> NDArray[numpy.uint8]:
    """Return the LeafReason of each node."""

def tree_nodes_of_rows(config: TreeConfig, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write the node of each encoded row in a partly grown tree to out."""

class CodeValues:
    """Upper edges of bins, or the values of some or all codes."""

    def __init__(self, columns: ColumnTypes, bits: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, all_values: bool = False, halves: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

def tree_threshold_codes(config: TreeConfig, encoding: ColumnEncoding, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]]) -> tuple:
    """Return columns and codes on both sides of all thresholds."""

def tree_pack(config: TreeConfig, state: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]], values: CodeValues) -> dict:
    """Return the arrays of the finished tree, numbered in growth order."""

class TreeArrays:
    """The prediction arrays of a tree."""

    def __init__(self, nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: ColumnTypes, surrogates: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, first_surrogate: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def defect(self) -> str | None:
        """Return what is wrong with the nodes, or None."""

    def categories_defect(self) -> str | None:
        """
        Return what is wrong with the categories seen in training, or None.

        Only trees with fractional or surrogate routing store them.
        """

    def surrogates_defect(self) -> str | None:
        """Return what is wrong with the surrogates, or None."""

class BranchFractions:
    """Fractions of rows with missing values that each node receives."""

    def __init__(self, fraction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

@overload
def tree_apply(tree: TreeArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None: ...

@overload
def tree_apply(tree: TreeArrays, table: TreeTable, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write the leaf of each row of a matrix or table.

    A matrix requires a tree with tests of floating-point columns only.
    """

def tree_mean_over_leaves(tree: TreeArrays, fractions: BranchFractions, table: TreeTable, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Average values of the leaves that each row reaches, by its fractions.

    The values of leaf v are row rows[v] of values.
    """

def tree_add_leaf_weights(tree: TreeArrays, fractions: BranchFractions, table: TreeTable, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], *, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
    """
    Add the weight of each row, by its fractions, to the leaves that it reaches.

    Columns of out are the classes; for regression (w, w y, w y^2).
    """

class ErrorPruneConfig:
    """Settings of error-based pruning."""

    def __init__(self, *, n_classes: int, confidence: float, deviate: float, subtree_raising: bool, fractional: bool = False, costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None: ...

def tree_prune_by_errors(config: ErrorPruneConfig, tree: TreeArrays, n_branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], table: TreeTable, label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> dict:
    """
    Return the pruned tree in nodes of the grown one, and the pruning steps.
    """

def tree_weakest_links(risk: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], is_candidate: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], tolerance: float) -> tuple:
    """
    Return the alpha from which on each node is better a leaf, and the nodes that are
    not pruned together with an ancestor.
    """

class TreeSum:
    """
    A weighted sum of trees: nodes, leaf values, covers and scales.

    Columns of leaf_values are the outputs; with output, tree t has one column, that of output[t]. With fractional, rows that lack a value follow all branches by their covers.
    """

    def __init__(self, nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tree_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: ColumnTypes, *, leaf_values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cover: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, n_outputs: int, fractional: bool) -> None: ...

def tree_shap(trees: TreeSum, table: TreeTable, background: TreeTable | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write the Shapley values of each (row, column, output), and the base values.

    Without a background they are path-dependent, by the covers; with one interventional.
    """

class RowSampler:
    """Draws the rows of a tree."""

    def __init__(self, *, n_rows: int, n_draws: int, replace: bool, all_rows: bool, weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def counts(self, seed: int) -> NDArray[numpy.int64]:
        """Return the count of each row in the sample of a seed."""

    def draw(self, seed: int) -> NDArray[numpy.uint32]:
        """Return the rows in the order of the draws."""

class ForestConfig:
    """Settings of a forest and of its trees."""

    def __init__(self, *, tree: TreeConfig, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns_per_tree: int, min_weight_fraction: float, balanced_unit: float) -> None: ...

def forest_grow(config: ForestConfig, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, targets: TreeTargets, sampler: RowSampler, values: CodeValues, threads: int) -> dict:
    """
    Grow a tree for each seed on encoded rows, and return the arrays of the forest.
    """

def forest_grow_vectors(config: ForestConfig, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, targets: VectorTargets, sampler: RowSampler, values: CodeValues, threads: int) -> tuple:
    """
    Grow trees for several targets; return their arrays and the leaves' vectors.
    """

def draw_columns(seed: int, n_columns: int, n_drawn: int, replace: bool) -> NDArray[numpy.int32]:
    """
    Draw columns: ascending, or with replacement in the order of the draws.
    """

def tree_seeds(seed: int, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint64]:
    """
    Return the seeds of the trees with these numbers in a forest of a seed.
    """

class ForestArrays:
    """The arrays of a forest, checked once."""

    def __init__(self, nodes: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tree_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, class_units: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, columns: ColumnTypes) -> None: ...

    @property
    def first_leaf(self) -> list[int]:
        """Offset of the first leaf byte of each tree, and the end."""

class ForestRows:
    """Rows to which a forest is applied."""

    @overload
    def __init__(self, table: TreeTable) -> None: ...

    @overload
    def __init__(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

class OobTargets:
    """Targets of the training rows of a forest."""

    def __init__(self, *, label: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, balanced: bool = False, scale: float = 1.0) -> None: ...

class TrainedForest:
    """A forest with its training rows and their sampler."""

    def __init__(self, forest: ForestArrays, rows: ForestRows, sampler: RowSampler, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: OobTargets) -> None: ...

class OobTotals:
    """Sums of out-of-bag predictions, and losses after each tree."""

    def __init__(self, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_trees: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], n_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], loss: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class LeafTargets:
    """Training targets in the leaves of a forest."""

    def __init__(self, target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tree_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def forest_class_weights(forest: ForestArrays, tree: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the class weights of a tree's leaves, in units; zero for other nodes.
    """

def forest_apply(forest: ForestArrays, rows: ForestRows, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Write the leaf of each (row, tree)."""

def forest_predict(forest: ForestArrays, rows: ForestRows, smoothing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Write the mean prediction of the trees: class probabilities or a value.

    smoothing is added to each class weight in the leaves of a tree.
    """

def forest_predict_vectors(forest: ForestArrays, rows: ForestRows, leaf_row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf_values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Write the mean over the trees of the vectors of the rows' leaves."""

def forest_out_of_bag(trained: TrainedForest, smoothing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: OobTotals, threads: int) -> None:
    """
    Sum the predictions of out-of-bag rows, and the losses after each tree.
    """

def forest_permutation_importance(trained: TrainedForest, n_repeats: int, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_trees: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Sum the increase of each row's out-of-bag loss with each column permuted.
    """

def forest_debiased_importance(trained: TrainedForest, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Write the impurity decrease by each (tree, column) on out-of-bag rows."""

def forest_quantiles(targets: LeafTargets, leaf: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Write quantiles of the training targets in the leaves of each row."""

class BoostingConfig:
    """Settings of a boosted tree."""

    def __init__(self) -> None: ...

    @property
    def growth_order(self) -> GrowthOrder: ...

    @growth_order.setter
    def growth_order(self, arg: GrowthOrder, /) -> None: ...

    @property
    def max_leaves(self) -> int: ...

    @max_leaves.setter
    def max_leaves(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def min_rows(self) -> int: ...

    @min_rows.setter
    def min_rows(self, arg: int, /) -> None: ...

    @property
    def min_child_weight(self) -> float: ...

    @min_child_weight.setter
    def min_child_weight(self, arg: float, /) -> None: ...

    @property
    def reg_lambda(self) -> float: ...

    @reg_lambda.setter
    def reg_lambda(self, arg: float, /) -> None: ...

    @property
    def reg_alpha(self) -> float: ...

    @reg_alpha.setter
    def reg_alpha(self, arg: float, /) -> None: ...

    @property
    def min_split_gain(self) -> float: ...

    @min_split_gain.setter
    def min_split_gain(self, arg: float, /) -> None: ...

    @property
    def category_smoothing(self) -> float: ...

    @category_smoothing.setter
    def category_smoothing(self, arg: float, /) -> None: ...

    @property
    def columns_per_node(self) -> int: ...

    @columns_per_node.setter
    def columns_per_node(self, arg: int, /) -> None: ...

    @property
    def monotonic(self) -> list[int]: ...

    @monotonic.setter
    def monotonic(self, arg: Sequence[int], /) -> None: ...

    @property
    def gradient_bits(self) -> int: ...

    @gradient_bits.setter
    def gradient_bits(self, arg: int, /) -> None: ...

    @property
    def interactions(self) -> list[list[int]]: ...

    @interactions.setter
    def interactions(self, arg: Sequence[Sequence[int]], /) -> None: ...

class BoostingGrower:
    """Grow the trees of a fit on encoded rows, and keep the last one."""

    def __init__(self, config: BoostingConfig, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], encoding: ColumnEncoding, threads: int) -> None: ...

    def with_shared_codes(self) -> BoostingGrower:
        """
        Return a second grower on the same codes, for another tree at the same time.
        """

    def newton_values(self, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, *, as_grown: bool = False) -> NDArray[numpy.float64]:
        """Return the regularized Newton step of each leaf and output."""

    def leaf_sums(self, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64]:
        """
        Return the sums over the rows of each leaf, of shape (n_leaves, n_outputs, 2).
        """

    def node_sums(self) -> NDArray[numpy.float64]:
        """
        Return the sums from which splits were scored, of shape (n_nodes, n_outputs, 2).
        """

    def node_bounds(self) -> NDArray[numpy.float64]:
        """Return the bounds of the values of each node, of shape (n_nodes, 2)."""

    def leaf_bounds(self) -> NDArray[numpy.float64]:
        """Return the bounds of the values of each leaf, of shape (n_leaves, 2)."""

    def leaf_quantiles(self, residual: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, probability: float) -> NDArray[numpy.float64]:
        """Return the weighted quantile of the residuals of each leaf's rows."""

    def add_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Add the values of the leaves to the scores of all rows."""

    def pack(self, code_values: CodeValues, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> dict:
        """Return the arrays of the tree, once for each output."""

def grow_trees(growers: Sequence[BoostingGrower], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, *, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, columns: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Grow a tree with each grower at the same time, from the gradients of some rows.
    """

def logistic_gradients(y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], hessian: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Compute gradients and Hessians of the binary log-loss."""

def softmax_gradients(label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], hessian: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Compute gradients and Hessians of the multinomial log-loss."""

def add_raw_scores(trees: ForestArrays, rows: ForestRows, begin: int, end: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Add the leaf values of trees [begin, end) to the scores of the rows."""
