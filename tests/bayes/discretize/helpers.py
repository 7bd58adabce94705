"""Learn an encoding as the classifiers do."""

from __future__ import annotations

from ceiba.bayes import DiscretizationConfig, learn_encoding
from ceiba.engine import choose_engine
from ceiba.stats import TargetSummary, ToLabeledRows


def learn(X, y, method="mdl", *, weight=None, n_jobs=1, class_weights=None, **options):
    """Return the encoding of the columns of X."""
    engine, source = choose_engine(X, weight, y=y, supervised=True, n_jobs=n_jobs)
    rows = engine.rows(source.partitions, ToLabeledRows("classification"))
    summary = engine.reduce(rows, TargetSummary.of)
    rows = rows.numbered(summary.rows)
    config = DiscretizationConfig(method, **options)
    return learn_encoding(engine, rows, source.schema, summary, config, class_weights)


def thresholds(X, y, method="mdl", **options):
    """Return the thresholds of the only column of X, as a list."""
    return learn(X, y, method, keep_constant=True, **options).thresholds(0).tolist()
