"""What a fitted Gaussian mixture can tell of rows, new or old."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, seed_of
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.mixture.covariance import Form, form_of, principal_parts
from ceiba.mixture.densities import (
    Fit,
    Gaussians,
    Likeliest,
    LogDensities,
    Posteriors,
    numbered_as_given,
)
from ceiba.mixture.imputation import Imputation, Imputed
from ceiba.mixture.init import symmetric
from ceiba.mixture.selection import Criteria, n_parameters
from ceiba.stats import ToPoints


def draw_rows(model: Gaussians, n: int, seed: int) -> tuple[Array, Array]:
    """``n`` rows, component after component, and the component of each."""
    if n < 1:
        raise ValueError(f"n_samples={n}: give the number of rows to draw, 1 or more")
    random = np.random.default_rng(seed)
    counts = random.multinomial(n, model.weights / model.weights.sum())
    d = model.means.shape[1]
    parts = [
        mean + noise(model, c, random.standard_normal((count, d)))
        for c, (mean, count) in enumerate(zip(model.means, counts, strict=True))
    ]
    return np.concatenate(parts), np.repeat(np.arange(len(counts)), counts)


def noise(model: Gaussians, component: int, normal: Array) -> Array:
    """Standard normal rows as rows of a component's covariance about zero."""
    covariance = model.covariances[component]
    if not model.full:
        scaled: Array = normal * np.sqrt(covariance)
        return scaled
    turned: Array = normal @ np.linalg.cholesky(covariance).T
    return turned


LATENT = ("latent_axes_", "latent_variances_", "noise_variances_")


class FittedMixture(DensityMixin, Estimator):
    """Predictions, criteria, draws and imputation from ``weights_``, ``means_``, ``covariances_``.

    How these are learnt is the business of the learner that inherits from it.
    """

    _takes_nominal: ClassVar[bool] = False
    _state_names: ClassVar[tuple[str, ...]] = (
        "_anchor",
        "_constant",
        "_memory",
        "_seen",
        "_variances",
    )

    def predict(self, X: Any) -> Array:
        """The likeliest component of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        labels: Array = self._reduce(X, Likeliest.of).values
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Posterior probability of each component for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, k)
        """
        posteriors: Array = self._reduce(X, Posteriors.of).values
        return posteriors

    def score_samples(self, X: Any) -> Array:
        """Logarithm of the density at each row of ``X``; of what is observed of it.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        densities: Array = self._reduce(X, LogDensities.of).values
        return densities

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Weighted mean of the log densities of the rows."""
        fit = self._fit_of(X, sample_weight)
        return fit.log_likelihood / fit.weight

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Akaike's information criterion on ``X``; less is better."""
        return self._criteria(X, sample_weight).aic

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Bayesian information criterion on ``X``; less is better."""
        return self._criteria(X, sample_weight).bic

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Integrated completed likelihood on ``X``: BIC and twice the posteriors' entropy."""
        return self._criteria(X, sample_weight, entropy=True).icl

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows from the mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Component after component.
        labels : ndarray of shape (n_samples,)
            The component of each row.
        """
        return draw_rows(self._fitted_model(), n_samples, seed_of(self.random_state))

    def impute(
        self, X: Any, *, draw: bool = False, random_state: Any = 0, return_cov: bool = False
    ) -> Any:
        """``X`` with its gaps filled by what the mixture expects there, given the rest of the row.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
        draw : bool
            Fill in a draw from the conditional distribution, as multiple imputation wants, instead
            of its mean.
        random_state : int, RandomState, Generator or None
            Keys that draw, together with the number of the row.
        return_cov : bool
            Give the conditional covariance of each row's missing values as well.

        Returns
        -------
        filled : ndarray of shape (n_rows, n_features)
        covariances : ndarray of shape (n_rows, n_features, n_features)
            With ``return_cov``; zero for what was observed.
        """
        wish = Imputation(seed_of(random_state) if draw else None, return_cov)
        engine, source = self._open(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        rows = numbered_as_given(rows, engine) if draw else rows
        found = engine.reduce(rows, Imputed.of, self._model, wish)
        return (found.values, found.covariances) if return_cov else found.values

    @property
    def precisions_(self) -> Array:
        """Inverse covariances, in the shape of ``covariances_``."""
        roots = self.precisions_cholesky_
        return roots @ np.swapaxes(roots, -1, -2) if self._form.full else roots**2

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper triangular roots of the precisions, in the shape of ``covariances_``."""
        factors = self._fitted_model().factors
        if self._form.full:
            factors = np.swapaxes(factors, 1, 2)
        return np.ascontiguousarray(self._form.kept(factors))

    @property
    def _form(self) -> Form:
        k, d = self.means_.shape
        form = form_of(self.covariance_type, self.n_latent, d)
        if self.covariances_.shape != form.shape(k, d):
            raise ValueError(
                f"the model has covariances of shape {self.covariances_.shape}, which are not of "
                f"covariance_type={self.covariance_type!r}: set it back, or fit anew"
            )
        return form

    @property
    def _model(self) -> Gaussians:
        k, d = self.means_.shape
        covariances = self._form.spread(self.covariances_, k, d)
        return Gaussians.of(self.weights_, self.means_, covariances)

    def _fitted_model(self) -> Gaussians:
        check_is_fitted(self)
        return self._model

    def _reduce(self, X: Any, summarise: Callable[..., Any], *more: Any) -> Any:
        engine, source = self._open(X, reset=False)
        return self._rows_reduce(engine, source, summarise, *more, keep_all=True)

    def _rows_reduce(
        self,
        engine: Engine,
        source: Source,
        summarise: Callable[..., Any],
        *more: Any,
        keep_all: bool,
    ) -> Any:
        rows = engine.rows(source.partitions, ToPoints(keep_all=keep_all))
        return engine.reduce(rows, summarise, self._model, *more)

    def _fit_of(self, X: Any, sample_weight: Any, entropy: bool = False) -> Fit:
        engine, source = self._open(X, sample_weight, reset=False)
        fit: Fit = self._rows_reduce(engine, source, Fit.of, entropy, keep_all=False)
        if fit.weight == 0:
            raise ValueError("every row has weight zero: there is nothing to score")
        return fit

    def _criteria(self, X: Any, sample_weight: Any, entropy: bool = False) -> Criteria:
        fit = self._fit_of(X, sample_weight, entropy)
        k, d = self.means_.shape
        numbers = n_parameters(self._form, k, d)
        return Criteria(fit.log_likelihood, numbers, fit.weight, fit.entropy)

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        k, d = self.n_components_, len(self.schema_)
        shapes = {
            "weights_": (k,),
            "means_": (k, d),
            "covariances_": self._form.shape(k, d),
            "_variances": (d,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name, None)
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != "f":
                raise ValueError(f"{name} must be floats of shape {shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if self.n_features_in_ != d:
            raise ValueError("n_features_in_ must be the number of columns of the schema")
        constant = getattr(self, "_constant", None)
        if not isinstance(constant, np.ndarray) or constant.shape != (d,) or constant.dtype != bool:
            raise ValueError(f"_constant must be truth values of shape {(d,)}")
        if not (self._variances > 0).all():
            raise ValueError("_variances must be positive")
        if self._form.full and not symmetric(self.covariances_):
            raise ValueError("covariances_ must be symmetric")
        memory = getattr(self, "_memory", None)
        if memory is not None and not memory.suits(k, d, self._form.full):
            raise ValueError("_memory must be moments of the components")
        try:
            model = self._model
        except np.linalg.LinAlgError:
            raise ValueError("covariances_ must be positive definite") from None
        if (model.weights < 0).any() or not np.isclose(model.weights.sum(), 1.0):
            raise ValueError("weights_ must be at least 0 and sum to 1")


def model_attributes(schema: Schema, form: Form, model: Gaussians) -> dict[str, Any]:
    """The attributes that a model of these components needs to predict."""
    found = {
        **schema_attributes(schema),
        "weights_": model.weights,
        "means_": model.means,
        "covariances_": form.kept(model.covariances),
        "n_components_": len(model.weights),
    }
    if form.n_latent:
        found.update(zip(LATENT, principal_parts(model.covariances, form.n_latent), strict=True))
    return found
