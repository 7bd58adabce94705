"""The M step of each covariance form, as Celeux & Govaert (1995) write it.

A covariance is volume x shape x orientation: lambda D A D', with A diagonal of determinant 1. The
three letters of a form mark each as equal (E) or varying (V) between components, or the
identity (I). Each function takes the components' sizes N (K,) and scatters W (K, d, d) about their
means and gives (K, d, d) covariances.

References
----------
Celeux, G. and Govaert, G. (1995). Gaussian parsimonious clustering models. Pattern Recognition 28.
Tipping, M. E. and Bishop, C. M. (1999). Mixtures of probabilistic principal component analyzers.
Neural Computation 11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array

FORMS = (
    "EII",
    "VII",
    "EEI",
    "VEI",
    "EVI",
    "VVI",
    "EEE",
    "VEE",
    "EVV",
    "EEV",
    "VEV",
    "VVV",
    "ppca",
)
SPHERICAL = ("EII", "VII")
DIAGONAL = ("EEI", "VEI", "EVI", "VVI")
# Forms that need each component's own determinant, which must not be zero.
RAISED_FIRST = ("EVI", "EVV", "EEV", "VEV")
# Forms whose shared shape comes from all scatters together.
RAISED_TOGETHER = ("VEI", "VEE")


def root(matrix: Array) -> float:
    """Determinant to the power 1/d."""
    _, log_determinant = np.linalg.slogdet(matrix)
    return float(np.exp(log_determinant / len(matrix)))


def diagonals(W: Array) -> Array:
    """The diagonal parts of matrices."""
    return np.array([np.diag(np.diag(scatter)) for scatter in W])


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues in descending order, and the vectors as columns.

    With the widest columns first the small eigenvalues of columns in different units keep their
    digits, which they otherwise lose to the largest one.
    """
    order = np.argsort(-np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix[np.ix_(order, order)])
    turned = np.empty_like(vectors)
    turned[order] = vectors
    return values[::-1], turned[:, ::-1]


def repeated(matrix: Array, k: int) -> Array:
    return np.array([matrix] * k)


def equal_spheres(N: Array, W: Array) -> Array:
    k, d, _ = W.shape
    return repeated(np.trace(W.sum(axis=0)) / (N.sum() * d) * np.eye(d), k)


def own_spheres(N: Array, W: Array) -> Array:
    d = W.shape[1]
    return np.array([np.trace(w) / (n * d) * np.eye(d) for n, w in zip(N, W, strict=True)])


def equal(N: Array, W: Array) -> Array:
    return repeated(W.sum(axis=0) / N.sum(), len(W))


def own(N: Array, W: Array) -> Array:
    return W / N[:, None, None]


def equal_volume(N: Array, W: Array) -> Array:
    """One volume, own shapes (and orientations)."""
    volume = sum(root(w) for w in W) / N.sum()
    return np.array([volume * w / root(w) for w in W])


def own_volumes(N: Array, W: Array) -> Array:
    """Own volumes, one matrix of determinant 1, by alternation."""
    d = W.shape[1]
    volumes = np.array([np.trace(w) for w in W]) / (d * N)
    for _ in range(1000):
        shape = sum(w / volume for w, volume in zip(W, volumes, strict=True))
        shape = shape / root(shape)
        before = volumes
        volumes = np.array([np.trace(np.linalg.solve(shape, w)) for w in W]) / (d * N)
        if np.max(np.abs(volumes - before) / before) < 1e-12:
            break
    return np.array([volume * shape for volume in volumes])


def own_axes(W: Array, solve: Any, N: Array) -> Array:
    """Solve for the scatters' eigenvalues, then rotate back to each component's axes."""
    pairs = [eigen(w) for w in W]
    straight = solve(N, np.array([np.diag(values) for values, _ in pairs]))
    return np.array(
        [vectors @ s @ vectors.T for s, (_, vectors) in zip(straight, pairs, strict=True)]
    )


def latent(N: Array, W: Array, q: int) -> Array:
    """Keep the q largest axes; the others get their mean variance."""
    found = []
    for n, w in zip(N, W, strict=True):
        values, vectors = eigen(w / n)
        values = np.concatenate([values[:q], np.full(len(values) - q, values[q:].mean())])
        found.append(vectors @ np.diag(values) @ vectors.T)
    return np.array(found)


def solve(form: str, N: Array, W: Array, q: int = 1) -> Array:
    """Maximum likelihood covariances of the form for sizes N and scatters W."""
    if form == "ppca":
        return latent(N, W, q)
    if form in ("EEV", "VEV"):
        return own_axes(W, equal if form == "EEV" else own_volumes, N)
    if form in DIAGONAL:
        W = diagonals(W)
    ways = {
        "EII": equal_spheres,
        "VII": own_spheres,
        "EEI": equal,
        "VVI": own,
        "EVI": equal_volume,
        "VEI": own_volumes,
        "EEE": equal,
        "VVV": own,
        "EVV": equal_volume,
        "VEE": own_volumes,
    }
    return ways[form](N, W)


def raised(form: str, covariance: Array, floor: float, s2: Array) -> Array:
    """Raise a covariance to a fraction of the columns' variances."""
    round_ = form in (*SPHERICAL, "ppca")
    scale = np.sqrt(np.full(len(s2), s2.mean()) if round_ else s2)
    standard = covariance / np.outer(scale, scale)
    if form in (*SPHERICAL, *DIAGONAL):
        return np.diag(np.maximum(np.diag(standard), floor) * scale**2)
    values, vectors = np.linalg.eigh((standard + standard.T) / 2)
    if values.min() >= floor:
        return covariance
    standard = vectors @ np.diag(np.maximum(values, floor)) @ vectors.T
    found: Array = standard * np.outer(scale, scale)
    return found


def solve_raised(
    form: str, N: Array, W: Array, q: int, reg_covar: float, floor: float, s2: Array
) -> Array:
    """`solve`, then ``reg_covar`` on the diagonal, and no eigenvalue below the floor."""
    if form in RAISED_FIRST:
        W = diagonals(W) if form in DIAGONAL else W
        W = np.array([n * raised(form, w / n, floor, s2) for n, w in zip(N, W, strict=True)])
    if form in RAISED_TOGETHER:
        W = diagonals(W) if form in DIAGONAL else W
        pooled = W.sum(axis=0) / N.sum()
        W = W + N[:, None, None] * (raised(form, pooled, floor, s2) - pooled)
    found = solve(form, N, W, q) + reg_covar * np.eye(W.shape[1])
    return np.array([raised(form, covariance, floor, s2) for covariance in found])


def covariance_parameters(form: str, k: int, d: int, q: int = 1) -> int:
    """Number of free parameters of the covariances of a form."""
    turn, matrix = d * (d - 1) // 2, d * (d + 1) // 2
    return {
        "EII": 1,
        "VII": k,
        "EEI": d,
        "VEI": k + d - 1,
        "EVI": 1 + k * (d - 1),
        "VVI": k * d,
        "EEE": matrix,
        "VEE": k + matrix - 1,
        "EVV": 1 + k * (matrix - 1),
        "EEV": d + k * turn,
        "VEV": k + d - 1 + k * turn,
        "VVV": k * matrix,
        "ppca": k * (d * q + 1 - q * (q - 1) // 2),
    }[form]
