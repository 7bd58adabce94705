"""Components that lose their rows: reseed them at the rows of lowest density, or drop them."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.mixture.config import EMConfig
from ceiba.mixture.data import MixtureData
from ceiba.mixture.densities import Gaussians, TopRows, number_input_rows
from ceiba.mixture.events import FitEvent
from ceiba.mixture.statistics import ComponentMoments

# A component with less than a hundredth of an average row describes nothing.
_MIN_ROWS = 0.01


def lost_components(weights: Array, data: MixtureData, config: EMConfig) -> Array:
    """Return which components lost their rows; the heaviest of a group never has."""
    lost: Array = weights < _MIN_ROWS * np.repeat(data.row_weights, config.sizes)
    if lost.any():
        for group in config.groups:
            lost[group.start + int(np.argmax(weights[group]))] = False
    return lost


def reseed_or_drop(
    data: MixtureData,
    config: EMConfig,
    model: Gaussians,
    moments: ComponentMoments,
    iteration: int,
    n_reseeded: int = 0,
) -> tuple[ComponentMoments, EMConfig, list[FitEvent]]:
    """Replace the moments of components that lost their rows, or drop these components.

    A component is reseeded at the row of smallest density, with the variances of the data, as long
    as fewer than ``max_reseeds`` were reseeded in the run.
    """
    lost = lost_components(moments.weights, data, config)
    weights, means = moments.weights.copy(), moments.means.copy()
    scatters = moments.scatters.copy()
    events = []
    for index, group in enumerate(config.groups):
        reseeded = group.start + np.flatnonzero(lost[group])[: config.max_reseeds - n_reseeded]
        if len(reseeded):
            n_reseeded += len(reseeded)
            rows = number_input_rows(data.groups[index], data.engine)
            lowest = data.engine.reduce(
                rows, TopRows.lowest_density, model.take(group), len(reseeded)
            )
            k = group.stop - group.start
            remaining = moments.weights[group].sum() - moments.weights[reseeded].sum()
            # Each of them then has 1 / k of the weight of its group.
            weights[reseeded] = remaining / (k - len(reseeded))
            points = zip(reseeded, lowest.rows, lowest.points, strict=False)
            for component, row, point in points:
                means[component] = np.where(np.isnan(point), data.mean, point)
                variances = weights[component] * config.floor.variances
                scatters[component] = variances if scatters.ndim == 2 else np.diag(variances)
                lost[component] = False
                weight = float(moments.weights[component])
                number = int(component - group.start)
                events.append(FitEvent("reseeded", iteration, number, weight, (int(row),), index))
        for component in group.start + np.flatnonzero(lost[group]):
            weight = float(moments.weights[component])
            number = int(component - group.start)
            events.append(FitEvent("dropped", iteration, number, weight, (), index))
    replaced = ComponentMoments(weights, means, scatters)
    return replaced.take(~lost), config.without(lost), events
