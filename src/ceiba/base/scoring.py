"""Score a fitted model on rows that need not be in memory."""

from __future__ import annotations

from typing import Any


class ScanScoreMixin:
    """Add scans and Dask collections with a target to scikit-learn's ``score``.

    It must precede scikit-learn's mixin in the list of base classes. A learner implements
    ``_score_on(engine, source)``, which scores rows with a target in one pass.
    """

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or the R² of a regressor.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``: ``y`` is None if ``X`` is a scan with a target column.

        Returns
        -------
        float
        """
        if y is not None:
            score: float = super().score(X, y, sample_weight)  # type: ignore[misc]
            return score
        engine, source = self._open_source(  # type: ignore[attr-defined]
            X,
            sample_weight,
            reset=False,
            task=self._task,  # type: ignore[attr-defined]
        )
        scored: float = self._score_on(engine, source)  # type: ignore[attr-defined]
        return scored
