"""Scores of a fitted model on rows that need not be in memory."""

from __future__ import annotations

from typing import Any


class ScoresScans:
    """``score`` on rows that need not be in memory; stands before scikit-learn's mixin.

    A learner says in ``_score_on(engine, source)`` how rows with a target are scored in one pass.
    """

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted right, or the coefficient of determination R².

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``: ``y`` is None where ``X`` is a scan that names its target.

        Returns
        -------
        float
        """
        if y is not None:
            found: float = super().score(X, y, sample_weight)  # type: ignore[misc]
            return found
        engine, source = self._open(  # type: ignore[attr-defined]
            X,
            sample_weight,
            reset=False,
            task=self._task,  # type: ignore[attr-defined]
        )
        scored: float = self._score_on(engine, source)  # type: ignore[attr-defined]
        return scored
