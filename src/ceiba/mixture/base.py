"""Predictions, scores, samples and imputation of a fitted Gaussian mixture."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ArrayOf, Estimator, fitted, seed_of
from ceiba.base.explanation import Explanation, explained_row
from ceiba.base.log_odds import compare_outputs
from ceiba.base.record import check_values
from ceiba.base.scaling import StoredScaling, check_scaling
from ceiba.base.value_types import format_value
from ceiba.data.encoding import Encoding
from ceiba.mixture.config import MixtureParameters
from ceiba.mixture.covariance import (
    CovarianceForm,
    covariance_form,
    is_symmetric,
)
from ceiba.mixture.densities import (
    LikelihoodSums,
    log_densities,
    most_probable_components,
    number_input_rows,
    posteriors,
)
from ceiba.mixture.explain import RowDensities, by_table_column, unit_row
from ceiba.mixture.imputation import impute_in_units
from ceiba.mixture.selection import information_criteria
from ceiba.mixture.statistics import ComponentMoments, Gaussians
from ceiba.stats import ToPoints
from ceiba.stats.points import zero_weights_error
from ceiba.stats.scaling import PointScaling


def check_fractions(name: str, values: Array) -> None:
    """Raise ValueError unless values read from a model file are >= 0 and sum to 1."""
    check_values(name, values, values >= 0, ">= 0")
    if not np.isclose(values.sum(), 1.0):
        raise ValueError(f"{name} must sum to 1, got a sum of {values.sum():g}.")


class FittedMixture(MixtureParameters, DensityMixin, Estimator):
    """Methods that need ``weights_``, ``means_`` and ``covariances_``, however they were fitted."""

    _accepts_nominal: ClassVar[bool] = False
    _state_names: ClassVar[tuple[str, ...]] = (
        "_column_variances",
        "_constant_columns",
        "_moments",
        "_prior_reference",
        "_scaled_covariances",
        "_scaled_means",
        "_scaling",
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

    def explain(self, X: Any) -> Explanation:
        """Explain the component of one row by the contribution of each column.

        A column contributes its log density under each component, 0 if the value is missing. With
        full covariances it is the density given the columns before it, so that contributions
        depend on the order of the columns; with diagonal ones they do not. Of two components,
        scores are log-odds; of several ones, log probabilities relative to their mean, whose
        softmax the responsibilities are.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.

        Returns
        -------
        Explanation
            Its ``responsibilities`` are the posterior probabilities of the components, and its
            ``distances`` the Mahalanobis distances to their means, over the observed columns.

        Examples
        --------
        >>> from ceiba import GaussianMixture
        >>> X = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [8.0, 9.0], [9.0, 8.0], [9.0, 9.0]]
        >>> model = GaussianMixture(2, covariance_type="diag").fit(X)
        >>> explanation = model.explain([[4.0, 1.0]])
        >>> int(explanation.contributions[:, explanation.prediction].argmax())
        1
        """
        table = explained_row(self, X)
        model = self._gaussians
        found = RowDensities.of(model, unit_row(table, self._units))
        with np.errstate(divide="ignore"):
            log_weights = np.log(model.weights)
        terms = by_table_column(table, found.terms)
        score, base, contributions = compare_outputs(log_weights, terms)
        return Explanation.of(
            self,
            table,
            self.predict(X)[0],
            score=score,
            outputs=list(range(len(log_weights))),
            scores=base + contributions.sum(axis=0),
            base=base,
            contributions=contributions,
            responsibilities=self.predict_proba(X)[0],
            distances=found.distances,
        )

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
        return self._criteria(X, sample_weight)["aic"]

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute the Bayesian information criterion on ``X``; smaller is better."""
        return self._criteria(X, sample_weight)["bic"]

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Compute the integrated completed likelihood: BIC plus twice the posteriors' entropy."""
        return self._criteria(X, sample_weight, entropy=True)["icl"]

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows from the mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows in the order of their components, without columns that are identifiers.
        labels : ndarray of shape (n_samples,)
            Component of each row.
        """
        X, labels = draw_rows(self._fitted_gaussians(), n_samples, seed_of(self.random_state))
        return X if self._units is None else self._units.from_units(X), labels

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
            Without columns that are identifiers.
        covariances : ndarray of shape (n_rows, n_features, n_features)
            With ``return_cov``; zero for observed values.
        """
        seed = seed_of(random_state) if draw else None
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        rows = number_input_rows(rows, engine) if draw else rows
        arrays = engine.predict(
            rows, impute_in_units, self._gaussians, seed, return_cov, self._units
        )
        return arrays if return_cov else arrays[0]

    @property
    def precisions_(self) -> Array:
        """Inverse covariances, in the shape of ``covariances_``."""
        if self._units is None:
            roots = self.precisions_cholesky_
            return roots @ np.swapaxes(roots, -1, -2) if self._form.full else roots**2
        factors = self._gaussians.factors
        precisions = np.swapaxes(factors, 1, 2) @ factors if self._form.full else factors**2
        own = self._units.covariances_to_units(precisions)
        return np.ascontiguousarray(to_fitted(own, self._form, self._units))

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper triangular roots of the precisions, in the shape of ``covariances_``."""
        factors = self._fitted_gaussians().factors
        if self._units is not None:
            factors = self._units.roots_to_units(factors)
        if self._form.full:
            factors = np.swapaxes(factors, 1, 2)
        return np.ascontiguousarray(to_fitted(factors, self._form, self._units))

    @property
    def _units(self) -> StoredScaling | None:
        """Units in which the mixture was fitted; None for the columns' own."""
        return getattr(self, "_scaling", None)

    @property
    def _unit_covariances(self) -> Array:
        """Covariances in the units of the fit."""
        return self.covariances_ if self._units is None else self._scaled_covariances

    @property
    def _form(self) -> CovarianceForm:
        k, d = self.means_.shape
        form = covariance_form(self.covariance_type, self.n_latent, d)
        if self._unit_covariances.shape != form.fitted_shape(k, d):
            raise ValueError(
                f"covariance_type must match the fitted covariances of shape "
                f"{self.covariances_.shape}, got {self.covariance_type!r}: set it back, or call "
                "fit."
            )
        return form

    @property
    def _gaussians(self) -> Gaussians:
        k, d = self.means_.shape
        covariances = self._form.from_fitted(self._unit_covariances, k, d)
        means = self.means_ if self._units is None else self._scaled_means
        return Gaussians.of(self.weights_, means, covariances)

    @property
    def _own_gaussians(self) -> Gaussians:
        """Components in the columns' own units; ValueError where float64 cannot hold them."""
        if self._units is None:
            return self._gaussians
        covariances = self._units.covariances_from_units(self._gaussians.covariances)
        try:
            return Gaussians.of(self.weights_, self.means_, covariances)
        except np.linalg.LinAlgError:
            raise ValueError(
                "covariances_ must be representable in float64, got values whose squares are not: "
                "rescale X before the fit."
            ) from None

    def _fitted_gaussians(self) -> Gaussians:
        check_is_fitted(self)
        return self._gaussians

    def _predict_rows(self, X: Any, function: Any) -> Array:
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True, scaling=self._units))
        return np.asarray(engine.predict(rows, function, self._gaussians))

    def _likelihood_sums(self, X: Any, sample_weight: Any, entropy: bool = False) -> LikelihoodSums:
        engine, source = self._open_source(X, sample_weight, reset=False)
        rows = engine.rows(source.partitions, ToPoints(scaling=self._units))
        sums = engine.reduce(rows, LikelihoodSums.of, self._gaussians, entropy)
        if sums.weight == 0:
            raise zero_weights_error()
        return sums

    def _criteria(self, X: Any, sample_weight: Any, entropy: bool = False) -> dict[str, float]:
        sums = self._likelihood_sums(X, sample_weight, entropy)
        return information_criteria(sums, self._form, *self.means_.shape)

    def _check_state(self) -> None:
        super()._check_state()
        k, d = self.n_components_, Encoding.of(self.schema_).width
        form = self._form
        fitted_covariances = ArrayOf("f", *form.fitted_shape(k, d))
        arrays = {
            "weights_": ArrayOf("f", k),
            "means_": ArrayOf("f", k, d),
            "_column_variances": ArrayOf("f", d),
            "_constant_columns": ArrayOf("bool", d),
        }
        if self._units is None:
            arrays["covariances_"] = fitted_covariances
        else:
            check_scaling(self._units, d)
            arrays["_scaled_means"] = ArrayOf("f", k, d)
            arrays["_scaled_covariances"] = fitted_covariances
        for name, expected in arrays.items():
            value: Any = getattr(self, name, None)
            expected.check(name, value, {})
            check_values(name, value, np.isfinite(value), "finite")
        check_values("_column_variances", self._column_variances, self._column_variances > 0, "> 0")
        covariances = self._unit_covariances
        if form.full and not is_symmetric(covariances):
            raise ValueError(
                "covariances_ must be symmetric, got differences up to "
                f"{np.abs(covariances - np.swapaxes(covariances, -1, -2)).max():g}."
            )
        moments = getattr(self, "_moments", None)
        if moments is not None:
            if not isinstance(moments, ComponentMoments):
                raise ValueError(f"_moments must be ComponentMoments, got {format_value(moments)}.")
            shape = (k, d, d) if form.full else (k, d)
            ArrayOf("float64", *shape).check("_moments.scatters", moments.scatters, {})
        try:
            model = self._gaussians
        except np.linalg.LinAlgError as error:
            raise ValueError(f"covariances_ must be positive definite, got {error}.") from None
        check_fractions("weights_", model.weights)


def to_fitted(covariances: Array, form: CovarianceForm, scaling: PointScaling | None) -> Array:
    """Convert one covariance (or root) per component to the shape of ``covariances_``.

    One variance for all columns in the units of a fit is one per column in their own units.
    """
    if scaling is not None and scaling.scaled and form.fitted_shape(1, 2) == (1,):
        return covariances
    return form.to_fitted(covariances)


def draw_rows(model: Gaussians, n: int, seed: int) -> tuple[Array, Array]:
    """Draw ``n`` rows, in the order of their components, and return the component of each."""
    if n < 1:
        raise ValueError(f"n_samples must be an int >= 1, got {n}.")
    random = np.random.default_rng(seed)
    counts = random.multinomial(n, model.weights / model.weights.sum())
    d = model.means.shape[1]
    roots = np.linalg.cholesky(model.covariances) if model.full else np.sqrt(model.covariances)
    parts = []
    for mean, root, count in zip(model.means, roots, counts, strict=True):
        normal = random.standard_normal((count, d))
        parts.append(mean + (normal @ root.T if model.full else normal * root))
    return np.concatenate(parts), np.repeat(np.arange(len(counts)), counts)
