"""Gaussian mixtures under MATLAB's names."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.clustering import complete_rows, matrix
from ceiba.compat.matlab.name_value import NameValue, check_nargout
from ceiba.mixture import GaussianMixture

_OPTIONS = (
    "CovarianceType", "Options", "random_state", "RegularizationValue", "Replicates",
    "SharedCovariance", "Start",
)  # fmt: skip
_UNSUPPORTED = {"ProbabilityTolerance": "leave it out: no probability is set to 0"}
# Covariance form of Ceiba, by CovarianceType and SharedCovariance.
_FORMS = {
    ("full", False): "full", ("full", True): "tied", ("diagonal", False): "diag",
    ("diagonal", True): "EEI",
}  # fmt: skip
_STARTS = {"plus": "k-means++", "randSample": "random_from_data"}


@dataclass(frozen=True, eq=False)
class GMDistribution:
    """A fitted Gaussian mixture, as `fitgmdist` returns it; see there for an example.

    Parameters
    ----------
    model : GaussianMixture
        Ceiba's own, which does more.
    CovarianceType : {"full", "diagonal"}
    SharedCovariance : bool
    RegularizationValue : float
    n_rows : int
        Number of training rows.
    """

    model: GaussianMixture
    CovarianceType: str
    SharedCovariance: bool
    RegularizationValue: float
    n_rows: int

    def __repr__(self) -> str:
        return (
            f"Gaussian mixture distribution with {self.NumComponents} components in "
            f"{self.NumVariables} dimensions"
        )

    @property
    def mu(self) -> Array:
        """Means, of shape (k, d)."""
        return np.asarray(self.model.means_)

    @property
    def Sigma(self) -> Array:
        """Covariances: (d, d, k), if diagonal (1, d, k); if shared without the last axis."""
        found = np.asarray(self.model.covariances_)
        if self.CovarianceType == "full":
            return found if self.SharedCovariance else np.moveaxis(found, 0, 2)
        return found[:1] if self.SharedCovariance else found.T[None]

    @property
    def ComponentProportion(self) -> Array:
        """Weights of the components."""
        return np.asarray(self.model.weights_)

    @property
    def NumComponents(self) -> int:
        """Number of components, k."""
        return len(self.model.weights_)

    @property
    def NumVariables(self) -> int:
        """Number of columns, d."""
        return int(self.model.n_features_in_)

    @property
    def NegativeLogLikelihood(self) -> float:
        """Negative log-likelihood of the training rows."""
        return -float(self.model.log_likelihood_)

    @property
    def AIC(self) -> float:
        """Akaike's criterion; less is better."""
        return 2 * self.NegativeLogLikelihood + 2 * self._n_parameters

    @property
    def BIC(self) -> float:
        """Bayes criterion; less is better."""
        return 2 * self.NegativeLogLikelihood + float(np.log(self.n_rows)) * self._n_parameters

    @property
    def _n_parameters(self) -> int:
        k, d = self.NumComponents, self.NumVariables
        per_matrix = d * (d + 1) // 2 if self.CovarianceType == "full" else d
        return k - 1 + k * d + per_matrix * (1 if self.SharedCovariance else k)

    @property
    def Converged(self) -> bool:
        """Whether EM converged."""
        return bool(self.model.converged_)

    @property
    def NumIterations(self) -> int:
        """Number of iterations of EM."""
        return int(self.model.n_iter_)

    def cluster(self, X: Any, *, nargout: int = 1) -> Any:
        """Return the component of each row, from 1; the negative log-likelihood; posteriors."""
        check_nargout(nargout, 3)
        posteriors, nlogL = self.posterior(X, nargout=2)
        outputs = posteriors.argmax(axis=1) + 1, nlogL, posteriors
        return outputs[0] if nargout == 1 else outputs[:nargout]

    def posterior(self, X: Any, *, nargout: int = 1) -> Any:
        """Return the probabilities of the components, (n, k), and the negative log-likelihood."""
        check_nargout(nargout, 2)
        posteriors = np.asarray(self.model.predict_proba(matrix(X)))
        if nargout == 1:
            return posteriors
        return posteriors, -float(np.sum(self.model.score_samples(matrix(X))))

    def pdf(self, X: Any) -> Array:
        """Return the density at each row."""
        return np.asarray(np.exp(self.model.score_samples(matrix(X))))

    def random(self, n: int = 1, *, nargout: int = 1) -> Any:
        """Draw rows, others in each call; with ``nargout=2`` also their components, from 1."""
        check_nargout(nargout, 2)
        model = copy(self.model).set_params(random_state=self._generator)
        rows, components = model.sample(n)
        return np.asarray(rows) if nargout == 1 else (np.asarray(rows), np.asarray(components) + 1)

    @cached_property
    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self.model.random_state)

    def mahal(self, X: Any) -> Array:
        """Return the squared Mahalanobis distance of each row to each component, (n, k)."""
        rows, sigma = matrix(X), self.Sigma
        if self.SharedCovariance:
            sigma = np.repeat(sigma[:, :, None], self.NumComponents, axis=2)
        columns = []
        for j, mean in enumerate(self.mu):
            covariance = (
                sigma[:, :, j] if self.CovarianceType == "full" else np.diag(sigma[0, :, j])
            )
            shifted = rows - mean
            columns.append((shifted * np.linalg.solve(covariance, shifted.T).T).sum(axis=1))
        return np.stack(columns, axis=1)


def fitgmdist(X: Any, k: int, *pairs: Any, **named: Any) -> GMDistribution:
    """Fit a Gaussian mixture with MATLAB's options.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows with NaN are left out, as in MATLAB (`ceiba.GaussianMixture` uses them).
    k : int
        Number of components.
    *pairs, **named
        Options, as ``"Replicates", 5`` or ``Replicates=5``, in any case.

    Returns
    -------
    GMDistribution

    Other Parameters
    ----------------
    CovarianceType : {"full", "diagonal"}
    SharedCovariance : bool
    RegularizationValue : float
        Added to the variances, by default 0.
    Start : {"plus", "randSample"}, array or mapping
        An array of n numbers from 1 to k assigns the rows; a mapping has ``mu``, ``Sigma`` and
        ``ComponentProportion``.
    Replicates : int
        Runs with new initial values, of which the best is kept; by default 1.
    Options : mapping
        ``MaxIter`` (100) and ``TolFun`` (1e-6).
    random_state : int
        Ceiba's own: seed of the draws, by default 0.

    Notes
    -----
    With "plus" and "randSample" the first covariances are those of the rows nearest to each mean,
    where MATLAB has the variances of the columns. A component that would collapse stays at Ceiba's
    covariance floor, where MATLAB raises an error.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba.compat.matlab import fitgmdist
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(8, 1, (40, 2))])
    >>> gm = fitgmdist(X, 2, "Replicates", 3)
    >>> gm.Sigma.shape, sorted(gm.ComponentProportion.round(2).tolist())
    ((2, 2, 2), [0.4, 0.6])
    >>> np.bincount(gm.cluster(X))[1:].tolist() in ([60, 40], [40, 60])
    True

    References
    ----------
    McLachlan & Peel (2000), "Finite mixture models".
    """
    options = NameValue.read("fitgmdist", _OPTIONS, pairs, named, _UNSUPPORTED)
    rows, known = complete_rows(X)
    rows = rows[known]
    k = NameValue({"k": k}).count("k", 1)
    kind = options.word("CovarianceType", ["full", "diagonal"], "full")
    shared = options.flag("SharedCovariance", False)
    regularization = options.number("RegularizationValue", 0.0)
    model = GaussianMixture(
        k,
        covariance_type=_FORMS[kind, shared],  # type: ignore[arg-type]
        reg_covar=regularization,
        random_state=options.count("random_state", 0, 0),
        **_mixture_start(options, k, rows, known, kind, shared),
        **_stopping(options),
    ).fit(rows)
    return GMDistribution(model, kind, shared, regularization, len(rows))


def _stopping(options: NameValue) -> dict[str, Any]:
    """Return when EM ends."""
    given = options.of("Options", {})
    if not isinstance(given, Mapping) or set(given) - {"MaxIter", "TolFun", "Display"}:
        raise ValueError(f"Options must be a mapping of MaxIter and TolFun, got {given!r}.")
    stopping = NameValue(given)
    stopping.word("Display", ["off"], "off")
    return {"max_iter": stopping.count("MaxIter", 100), "tol": stopping.number("TolFun", 1e-6)}


def _mixture_start(
    options: NameValue, k: int, rows: Array, known: Array, kind: str, shared: bool
) -> dict[str, Any]:
    """Return how EM starts."""
    given, d = options.of("Start", "plus"), rows.shape[1]
    replicates = options.count("Replicates", 1)
    if isinstance(given, str):
        word = options.word("Start", list(_STARTS), "plus")
        return {"init_params": _STARTS[word], "n_init": replicates}
    if replicates > 1:
        raise ValueError(
            "Replicates must be 1 with given initial values: every run would be equal."
        )
    if isinstance(given, Mapping):
        return _given_parameters(given, k, d, kind, shared)
    labels = np.asarray(given).reshape(-1)
    if labels.shape != known.shape or not np.isin(labels, np.arange(1, k + 1)).all():
        raise ValueError(
            f"Start must be one of {tuple(_STARTS)}, a mapping of mu, Sigma and "
            f"ComponentProportion, or {len(known)} numbers from 1 to {k}."
        )
    return {"responsibilities_init": np.eye(k)[labels[known].astype(int) - 1]}


def _given_parameters(
    given: Mapping[str, Any], k: int, d: int, kind: str, shared: bool
) -> dict[str, Any]:
    """Return initial means, precisions and weights."""
    if set(given) - {"mu", "Sigma", "ComponentProportion"} or not {"mu", "Sigma"} <= set(given):
        raise ValueError("Start as a mapping must have mu, Sigma and perhaps ComponentProportion.")
    last = () if shared else (k,)
    shape = (d, d, *last) if kind == "full" else (1, d, *last)
    sigma, mu = np.asarray(given["Sigma"], np.float64), np.asarray(given["mu"], np.float64)
    if sigma.shape != shape or mu.shape != (k, d):
        raise ValueError(
            f"Start must have mu of shape {(k, d)} and Sigma of shape {shape}, got {mu.shape} and "
            f"{sigma.shape}."
        )
    if kind == "full":
        precisions = np.linalg.inv(sigma if shared else np.moveaxis(sigma, 2, 0))
    else:
        precisions = 1 / (np.repeat(sigma, k, axis=0) if shared else sigma[0].T)
    weights = np.asarray(given.get("ComponentProportion", np.full(k, 1 / k)), np.float64)
    return {
        "means_init": mu, "precisions_init": precisions,
        "weights_init": weights.reshape(-1) / weights.sum(),
    }  # fmt: skip
