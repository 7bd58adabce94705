"""Log probabilities of classes or components, compared with each other column by column."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array

TWO_OUTPUTS = "log-odds"
SEVERAL_OUTPUTS = "relative log probability"


def compare_outputs(base: Array, contributions: Array) -> tuple[str, Array, Array]:
    """Subtract from log probabilities what all outputs have in common.

    Of two outputs each has its log-odds, which are minus those of the other. Of several ones, the
    mean over the outputs of positive probability is subtracted; probabilities are the softmax of
    the scores. An output of probability 0 has the score minus infinity.

    Parameters
    ----------
    base : ndarray of shape (n_outputs,)
        Log probability of each output before any column is known.
    contributions : ndarray of shape (n_columns, n_outputs)
        Log probability that each column adds.

    Returns
    -------
    str, ndarray of shape (n_outputs,), ndarray of shape (n_columns, n_outputs)
        Name of the scores, base and contributions.

    Examples
    --------
    >>> import numpy as np
    >>> name, base, contributions = compare_outputs(np.log([0.5, 0.5]), np.log([[0.8, 0.2]]))
    >>> name, contributions.round(2).tolist()
    ('log-odds', [[1.39, -1.39]])
    """
    # An output that is impossible without any column stays so, whatever its densities are.
    contributions = np.where(np.isneginf(base), 0.0, contributions)
    is_possible = np.isfinite(base + contributions.sum(axis=0))
    if not is_possible.any():
        # The row has density 0 for every output: learners then predict from the base alone.
        contributions = np.zeros_like(contributions)
        is_possible = np.isfinite(base)
    if len(base) == 2:
        name, base_reference, reference = TWO_OUTPUTS, base[::-1], contributions[:, ::-1]
    else:
        name, base_reference = SEVERAL_OUTPUTS, base[is_possible].mean()
        reference = contributions[:, is_possible].mean(axis=1, keepdims=True)
    return name, base - base_reference, contributions - reference
