"""Predictions, scores, samples and imputation of a fitted Gaussian mixture."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, fitted, seed_of
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Schema
from ceiba.mixture.config import MixtureParameters
from ceiba.mixture.covariance import (
    CovarianceForm,
    covariance_form,
    is_symmetric,
    principal_parts,
)
from ceiba.mixture.densities import (
    Gaussians,
    LikelihoodSums,
    log_densities,
    most_probable_components,
    number_input_rows,
    posteriors,
)
from ceiba.mixture.imputation import impute
from ceiba.mixture.selection import InformationCriteria, n_parameters
from ceiba.mixture.statistics import ComponentMoments
from ceiba.stats import ToPoints

LATENT_ATTRIBUTES = ("latent_axes_", "latent_variances_", "noise_variances_")


class FittedMixture(MixtureParameters, DensityMixin, Estimator):
    """Methods that need ``weights_``, ``means_`` and ``covariances_``, however they were fitted."""

    _accepts_nominal: ClassVar[bool] = False
    _state_names: ClassVar[tuple[str, ...]] = (
        "_column_variances",
        "_constant_columns",
        "_moments",
        "_prior_reference",
        "_weight_seen",
    )

    weights_: Array = fitted()
    means_: Array = fitted()
    covariances_: Array = fitted()
    n_components_: int = fitted()

    def predict(self, X: Any) -> Array:
        """Predict the most probable component of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        return self._predict_rows(X, most_probable_components)

    def predict_proba(self, X: Any) -> Array:
        """Compute the posterior probability of each component for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, k)
        """
        return self._predict_rows(X, posteriors)

    def score_samples(self, X: Any) -> Array:
        """Compute the log density of the observed values of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._predict_rows(X, log_densities)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the weighted mean of the log densities of the rows."""
        sums = self._likelihood_sums(X, sample_weight)
        return sums.log_likelihood / sums.weight

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute Akaike's information criterion on ``X``; smaller is better."""
        return self._criteria(X, sample_weight).aic

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute the Bayesian information criterion on ``X``; smaller is better."""
        return self._criteria(X, sample_weight).bic

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Compute the integrated completed likelihood: BIC plus twice the posteriors' entropy."""
        return self._criteria(X, sample_weight, entropy=True).icl

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows from the mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows in the order of their components.
        labels : ndarray of shape (n_samples,)
            Component of each row.
        """
        return draw_rows(self._fitted_gaussians(), n_samples, seed_of(self.random_state))

    def impute(
        self, X: Any, *, draw: bool = False, random_state: Any = 0, return_cov: bool = False
    ) -> Any:
        """Fill the missing values of ``X`` by their conditional means or draws.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
        draw : bool
            Fill with a draw from the conditional distribution, as multiple imputation needs,
            instead of its mean.
        random_state : int, RandomState, Generator or None
            Key of the draws, together with the row number.
        return_cov : bool
            Whether to return the conditional covariance of each row's missing values as well.

        Returns
        -------
        filled : ndarray of shape (n_rows, n_features)
        covariances : ndarray of shape (n_rows, n_features, n_features)
            With ``return_cov``; zero for observed values.
        """
        seed = seed_of(random_state) if draw else None
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        rows = number_input_rows(rows, engine) if draw else rows
        arrays = engine.predict(rows, impute, self._gaussians, seed, return_cov)
        return arrays if return_cov else arrays[0]

    @property
    def precisions_(self) -> Array:
        """Inverse covariances, in the shape of ``covariances_``."""
        roots = self.precisions_cholesky_
        return roots @ np.swapaxes(roots, -1, -2) if self._form.full else roots**2

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper triangular roots of the precisions, in the shape of ``covariances_``."""
        factors = self._fitted_gaussians().factors
        if self._form.full:
            factors = np.swapaxes(factors, 1, 2)
        return np.ascontiguousarray(self._form.to_fitted(factors))

    @property
    def _form(self) -> CovarianceForm:
        k, d = self.means_.shape
        form = covariance_form(self.covariance_type, self.n_latent, d)
        if self.covariances_.shape != form.fitted_shape(k, d):
            raise ValueError(
                f"covariance_type must match the fitted covariances of shape "
                f"{self.covariances_.shape}, got {self.covariance_type!r}: set it back, or call "
                "fit."
            )
        return form

    @property
    def _gaussians(self) -> Gaussians:
        k, d = self.means_.shape
        covariances = self._form.from_fitted(self.covariances_, k, d)
        return Gaussians.of(self.weights_, self.means_, covariances)

    def _fitted_gaussians(self) -> Gaussians:
        check_is_fitted(self)
        return self._gaussians

    def _predict_rows(self, X: Any, function: Any) -> Array:
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        values: Array = engine.predict(rows, function, self._gaussians)
        return values

    def _likelihood_sums(self, X: Any, sample_weight: Any, entropy: bool = False) -> LikelihoodSums:
        engine, source = self._open_source(X, sample_weight, reset=False)
        rows = engine.rows(source.partitions, ToPoints())
        sums = engine.reduce(rows, LikelihoodSums.of, self._gaussians, entropy)
        if sums.weight == 0:
            raise ValueError("sample_weight must have at least one positive entry, got only zeros.")
        return sums

    def _criteria(self, X: Any, sample_weight: Any, entropy: bool = False) -> InformationCriteria:
        sums = self._likelihood_sums(X, sample_weight, entropy)
        n = n_parameters(self._form, *self.means_.shape)
        return InformationCriteria(sums.log_likelihood, n, sums.weight, sums.entropy)

    def _check_state(self) -> None:
        """Raise ValueError where attributes read from a model file are inconsistent."""
        k, d = self.n_components_, len(self.schema_)
        shapes = {
            "weights_": (k,),
            "means_": (k, d),
            "covariances_": self._form.fitted_shape(k, d),
            "_column_variances": (d,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name, None)
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != "f":
                raise ValueError(f"{name} must be floats of shape {shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if self.n_features_in_ != d:
            raise ValueError("n_features_in_ must be the number of columns of the schema")
        constant = getattr(self, "_constant_columns", None)
        if not isinstance(constant, np.ndarray) or constant.shape != (d,) or constant.dtype != bool:
            raise ValueError(f"_constant_columns must be bools of shape {(d,)}")
        if not (self._column_variances > 0).all():
            raise ValueError("_column_variances must be positive")
        if self._form.full and not is_symmetric(self.covariances_):
            raise ValueError("covariances_ must be symmetric")
        self._check_moments(k, d)
        try:
            model = self._gaussians
        except np.linalg.LinAlgError:
            raise ValueError("covariances_ must be positive definite") from None
        if (model.weights < 0).any() or not np.isclose(model.weights.sum(), 1.0):
            raise ValueError("weights_ must be at least 0 and sum to 1")

    def _check_moments(self, k: int, d: int) -> None:
        moments = getattr(self, "_moments", None)
        if moments is None:
            return
        shape = (k, d, d) if self._form.full else (k, d)
        if not isinstance(moments, ComponentMoments) or moments.scatters.shape != shape:
            raise ValueError("_moments must be moments of the components")


def model_attributes(schema: Schema, form: CovarianceForm, model: Gaussians) -> dict[str, Any]:
    """Return the fitted attributes that a model needs to predict."""
    attributes = {
        **schema_attributes(schema),
        "weights_": model.weights,
        "means_": model.means,
        "covariances_": form.to_fitted(model.covariances),
        "n_components_": len(model.weights),
    }
    if form.n_latent:
        parts = principal_parts(model.covariances, form.n_latent)
        attributes.update(zip(LATENT_ATTRIBUTES, parts, strict=True))
    return attributes


def draw_rows(model: Gaussians, n: int, seed: int) -> tuple[Array, Array]:
    """Draw ``n`` rows, in the order of their components, and return the component of each."""
    if n < 1:
        raise ValueError(f"n_samples must be an int >= 1, got {n}.")
    random = np.random.default_rng(seed)
    counts = random.multinomial(n, model.weights / model.weights.sum())
    d = model.means.shape[1]
    parts = [
        mean + _noise(model, component, random.standard_normal((count, d)))
        for component, (mean, count) in enumerate(zip(model.means, counts, strict=True))
    ]
    return np.concatenate(parts), np.repeat(np.arange(len(counts)), counts)


def _noise(model: Gaussians, component: int, normal: Array) -> Array:
    """Transform standard normal rows to the covariance of a component."""
    covariance = model.covariances[component]
    if not model.full:
        scaled: Array = normal * np.sqrt(covariance)
        return scaled
    rotated: Array = normal @ np.linalg.cholesky(covariance).T
    return rotated
