"""Latent class mixture: EM with a latent class, for nominal and discretized columns."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import (
    Estimator,
    ParameterError,
    Trace,
    check_unused,
    fitted,
    reports_progress,
    seed_of,
)
from ceiba.base.estimator import schema_attributes
from ceiba.base.explanation import Explanation, explained_row
from ceiba.base.log_odds import compare_outputs
from ceiba.bayes.coding import CodedData, check_stored_encoding
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.discretize.output import label_table
from ceiba.bayes.explain import RowTerms
from ceiba.bayes.joint import check_n_samples
from ceiba.bayes.latent.choice import (
    LatentChoice,
    count_parameters,
    information_criteria,
)
from ceiba.bayes.latent.em import EMResult, LatentClassEM
from ceiba.bayes.latent.output import draw_codes, table_frames
from ceiba.bayes.latent.parameters import LatentParameters
from ceiba.bayes.latent.refine import refine
from ceiba.bayes.latent.rows import ToLatentRows, read_latent_rows
from ceiba.bayes.latent.runs import choose_components, fit_components
from ceiba.bayes.latent.statistics import LatentLikelihood
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import Smoothing, feature_margins
from ceiba.bayes.scoring import ClassScorer, log_joint
from ceiba.data.source import chunk_table
from ceiba.data.table import Table
from ceiba.data.warn import warn_user
from ceiba.engine import Batch
from ceiba.mixture.gaussian_mixture import check_n_components
from ceiba.stats.points import zero_weights_error


class LatentClassMixture(LatentParameters, DensityMixin, Estimator):
    """Mixture of Bayesian networks for clustering and density estimation of nominal columns.

    Every row belongs to a latent class, the component. Given the component, the columns are
    independent (latent class analysis), or each depends on one other column, along a tree that all
    components share. EM fits the mixture: it computes the posterior probability of each component
    for each row, and fits the network to the rows weighted by them. A tree is learned again in
    each of these steps.

    Numeric columns are discretized without a class, ordinal ones count as nominal, and columns
    with one category are left out. Missing values are summed over; so are categories that are not
    in the training rows.

    {parameters}

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
    n_components_ : int
    arcs_ : list of (parent, child)
        Names of the columns; empty with ``structure='independent'``.
    conditional_tables_ : dict of DataFrame
        Probabilities of the categories of each column, by component.
    log_likelihood_ : float
        Weighted log-likelihood of the training rows, after a refinement too.
    lower_bound_ : float
        Objective of EM per unit of weight: the log-likelihood, plus alpha times the sum of the log
        probabilities relative to uniform ones.
    lower_bounds_ : list of float
        The same for the start and after each iteration of the best run.
    converged_ : bool
    n_iter_ : int
        Number of iterations of the best run.
    n_parameters_ : int
        Free parameters, of categories that occur in the training rows.
    choice_ : LatentChoice
        The table of criteria, where a criterion chose ``n_components``.
    information_ : float
        Mutual information of component and row in nats, with ``refinement='information'``.
    encoding_ : CategoryEncoding
        Categories of each column, with the thresholds of numeric ones.
    dropped_columns_ : list of str
        Columns with one category, which are left out.
    trace_ : Trace
        With ``trace=True``: ``weights``, ``log_likelihood`` and ``objective`` of each iteration of
        the best run.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Notes
    -----
    Discriminative training (TM) has nothing to maximize here: it maximizes p(class | row), and
    there is no class. With the posteriors of EM as classes its gradient, class minus posterior, is
    zero from the start. ``refinement='information'`` is a different objective: it moves posteriors
    away from their mean, and is an experiment without a general gain. On five tables with known
    classes (iris, vote, lymphography, cleve, hepatitis; four intervals) the adjusted Rand index
    changed by 0.00 to -0.02, and at most 2 % of the rows changed their component; what it always
    does is to sharpen the posteriors.

    Log-likelihoods are of categories: those of different discretizations cannot be compared. EM
    finds a local maximum; ``n_init`` starts make the best of them likely.

    Examples
    --------
    >>> from ceiba import LatentClassMixture
    >>> rows = [{"sky": "blue", "ground": "dry"}, {"sky": "gray", "ground": "wet"}] * 20
    >>> model = LatentClassMixture(2, alpha=0.1).fit(rows)
    >>> model.weights_.round(2)
    array([0.5, 0.5])
    >>> labels = model.predict(rows)
    >>> bool(labels[0] != labels[1])
    True

    References
    ----------
    Lazarsfeld & Henry (1968), "Latent structure analysis", Houghton Mifflin.
    Friedman (1998), "The Bayesian structural EM algorithm", UAI.
    Meila & Jordan (2000), "Learning with mixtures of trees", JMLR 1.
    Gomes, Krause & Perona (2010), "Discriminative clustering by regularized information
    maximization", NIPS 23.
    """

    _state_names: ClassVar[tuple[str, ...]] = ()

    weights_: Array = fitted()
    n_components_: int = fitted()
    model_: NetworkModel = fitted()
    encoding_: CategoryEncoding = fitted()
    dropped_columns_: list[str] = fitted()
    log_likelihood_: float = fitted()
    lower_bound_: float = fitted()
    lower_bounds_: list[float] = fitted()
    converged_: bool = fitted()
    n_iter_: int = fitted()
    n_parameters_: int = fitted()
    choice_: LatentChoice = fitted()
    information_: float = fitted()
    trace_: Trace = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to ``X``.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files larger than memory (``ceiba.scan``), or on a cluster. Nominal
            and numeric columns together; numeric ones are discretized. Values may be missing.
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent.

        Returns
        -------
        self : LatentClassMixture
        """
        self._check_parameters()
        engine, source = self._open_source(X, sample_weight, reset=True)
        data = read_latent_rows(engine, source, self)
        seed = seed_of(self.random_state)
        choice = None
        if isinstance(self.n_components, str):
            result, choice = choose_components(self, data, seed)
        else:
            check_n_components(data.summary.n_rows, self.n_components)
            result = fit_components(self, data, self.n_components, seed, single=True)
        self._set_result(data, result, choice)
        if not result.converged and not result.iterations.stopped:
            warn_user(
                f"EM did not converge in max_iter={self.max_iter} iterations: raise max_iter or "
                "tol.",
                ConvergenceWarning,
            )
        return self

    def _check_parameters(self) -> None:
        """Raise `ParameterError` for parameters without effect or meaning."""
        discretization: str = self.discretization
        if discretization == "mdl":
            raise ParameterError(
                "discretization='mdl' requires a class, which a mixture does not have: use "
                "'equal_frequency', 'equal_width' or 'kmeans'."
            )
        if not isinstance(self.n_components, str):
            check_unused(self, ["max_components"], "n_components that is not a criterion")
        if self.refinement is None:
            check_unused(self, ["tau"], "refinement=None")

    def _set_result(self, data: CodedData, result: EMResult, choice: LatentChoice | None) -> None:
        last, optional = result.last, {}
        network, log_likelihood = last.network, last.log_likelihood
        if self.refinement == "information":
            refined = refine(data, last, self.tau, self.max_iter)
            network, optional["information_"] = refined.network, refined.information
            em = LatentClassEM(data, Smoothing(self.alpha), None, self.tol)
            log_likelihood = em.expect(last.families, network).log_likelihood
        k = len(network.bias)
        margins = feature_margins(last.families, network, data.total)
        weights = np.exp(network.bias)
        attributes = {
            **schema_attributes(data.schema),
            "weights_": weights / weights.sum(),
            "n_components_": k,
            "model_": NetworkModel.of(last.families, network, margins, is_network=True),
            "encoding_": data.encoding,
            "dropped_columns_": data.encoding.constant_columns,
            "log_likelihood_": log_likelihood,
            "lower_bound_": result.objectives[-1] / data.total,
            "lower_bounds_": [objective / data.total for objective in result.objectives],
            "converged_": result.converged,
            "n_iter_": result.n_iter,
            "n_parameters_": count_parameters(last.families.structure, data.n_observed, k),
            **optional,
        }
        if choice is not None:
            attributes["choice_"] = choice
        if result.iterations.trace is not None:
            attributes["trace_"] = result.iterations.trace
        self._set_fitted(attributes, without=("choice_", "information_", "trace_"))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the mixture to ``X`` and return the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def predict(self, X: Any) -> Array:
        """Predict the most probable component of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        return self._predict(X, _most_probable)

    def predict_proba(self, X: Any) -> Array:
        """Compute the posterior probability of each component for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, k)
        """
        return self._predict(X, _posteriors)

    def score_samples(self, X: Any) -> Array:
        """Compute the log probability of the observed categories of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._predict(X, _log_probabilities)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the weighted mean of the log probabilities of the rows."""
        log_likelihood, weight = self._likelihood(X, sample_weight)
        return float(log_likelihood / weight)

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute Akaike's information criterion on ``X``; smaller is better."""
        return self._criteria(X, sample_weight)["aic"]

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Compute the Bayesian information criterion on ``X``; smaller is better.

        Each parameter costs log(n), with n the weight of all rows, but no less than 2, as in AIC,
        also where log(n) is less: below e^2 rows.
        """
        return self._criteria(X, sample_weight)["bic"]

    def sample(self, n_samples: int = 1) -> tuple[Table, Array]:
        """Draw rows from the mixture.

        Returns
        -------
        X : Table
            Categories of the columns, without those that were left out; numeric columns as labels
            of their intervals.
        labels : ndarray of shape (n_samples,)
            Component of each row.
        """
        check_is_fitted(self)
        n_rows = check_n_samples(n_samples)
        codes, labels = draw_codes(self.model_, n_rows, seed_of(self.random_state))
        return label_table(codes, self.encoding_), labels

    def explain(self, X: Any) -> Explanation:
        """Explain the component of one row by the contribution of each column.

        A column contributes log p(category | component), given the columns before it in the order
        of the arcs, 0 if the value is missing. Of two components, scores are log-odds; of several
        ones, log probabilities relative to their mean, whose softmax the responsibilities are.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.

        Returns
        -------
        Explanation
            With the posterior probabilities of the components as ``responsibilities``.

        Examples
        --------
        >>> from ceiba import LatentClassMixture
        >>> rows = [{"sky": "blue", "ground": "dry"}, {"sky": "gray", "ground": "wet"}] * 20
        >>> model = LatentClassMixture(2, alpha=0.1).fit(rows)
        >>> explanation = model.explain(rows[:1])
        >>> explanation.score, explanation.contributions[:, 0].round(1).tolist()
        ('log-odds', [-5.3, -5.3])
        """
        table = explained_row(self, X)
        row = RowTerms.of(self._scorer(), table)
        score, base, contributions = compare_outputs(row.bias, row.by_column(len(table.schema)))
        return Explanation.of(
            self,
            table,
            self.predict(X)[0],
            score=score,
            outputs=list(range(self.n_components_)),
            scores=base + contributions.sum(axis=0),
            base=base,
            contributions=contributions,
            responsibilities=self.predict_proba(X)[0],
        )

    @property
    def arcs_(self) -> list[tuple[str, str]]:
        """Arcs between columns, as (parent, child)."""
        check_is_fitted(self)
        names = self.encoding_.names
        return [(names[parent], names[child]) for parent, child in self.model_.structure.arcs]

    @property
    def conditional_tables_(self) -> dict[str, Any]:
        """Probabilities of the categories of each column, by component, as data frames.

        The index has the categories of the parent, if there is one, and of the column itself.
        """
        check_is_fitted(self)
        return table_frames(self.model_, self.encoding_)

    def _predict(self, X: Any, function: Any) -> Array:
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, chunk_table)
        return np.asarray(engine.predict(rows, function, self._scorer()))

    def _scorer(self) -> ClassScorer:
        """Return what computes the log probabilities of rows and components."""
        return ClassScorer(self.encoding_, self.model_, np.ones(self.n_components_, bool))

    def _likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """Return the log-likelihood and the weight of the rows."""
        engine, source = self._open_source(X, sample_weight, reset=False)
        rows = engine.rows(source.partitions, ToLatentRows(self.encoding_, engine.threads))
        sums = engine.reduce(rows, LatentLikelihood.of, self.model_)
        if sums.weight == 0:
            raise zero_weights_error()
        return sums.log_likelihood, sums.weight

    def _criteria(self, X: Any, sample_weight: Any) -> dict[str, float]:
        log_likelihood, weight = self._likelihood(X, sample_weight)
        return information_criteria(log_likelihood, self.n_parameters_, weight)

    def _check_state(self) -> None:
        super()._check_state()
        k = self.n_components_
        if np.shape(self.weights_) != (k,) or len(self.model_.bias) != k:
            raise ValueError(f"weights_ and model_ must have {k} components, as n_components_.")
        if not np.allclose(np.exp(self.model_.bias), self.weights_):
            raise ValueError("weights_ must be those of model_.")
        check_stored_encoding(self.encoding_, self.schema_, self.model_.sizes)


def _most_probable(batch: Batch[Table], scorer: ClassScorer) -> Array:
    return np.asarray(np.argmax(log_joint(batch, scorer), axis=1), np.int32)


def _posteriors(batch: Batch[Table], scorer: ClassScorer) -> Array:
    joint = log_joint(batch, scorer)
    joint -= joint.max(axis=1, keepdims=True)
    np.exp(joint, out=joint)
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _log_probabilities(batch: Batch[Table], scorer: ClassScorer) -> Array:
    joint = log_joint(batch, scorer)
    return np.asarray(np.logaddexp.reduce(joint, axis=1))
