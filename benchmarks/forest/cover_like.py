"""Synthetic table like Covertype: ten numeric and 44 binary columns, seven unequal classes.

The binary columns are a zone (4) and a soil (40) of each row, one column each. Soils depend on the
zone and on the elevation, and the numeric columns on each other. The distribution is fixed; a seed
gives another sample of it.
"""

from __future__ import annotations

import numpy as np

from benchmarks.tree.data import Array, Sample

N_ZONES, N_SOILS, N_CLASSES = 4, 40, 7
_DISTRIBUTION_SEED = 1998
# Weights of the classes, close to the frequencies in Covertype.
_FREQUENCIES = (0.36, 0.49, 0.06, 0.02, 0.02, 0.03, 0.04)


def make_cover(seed: int, n_rows: int) -> Sample:
    """Make an array of 54 columns, and the class of each row.

    Examples
    --------
    >>> from benchmarks.forest.cover_like import make_cover
    >>> make_cover(0, 100).X.shape
    (100, 54)
    """
    rng, fixed = np.random.default_rng([seed, n_rows]), np.random.default_rng(_DISTRIBUTION_SEED)
    zone = rng.choice(N_ZONES, n_rows, p=[0.45, 0.05, 0.44, 0.06])
    elevation = 2960 + 280 * rng.standard_normal(n_rows) - 250 * (zone == 3) + 120 * (zone == 1)
    numbers = draw_numbers(elevation, rng)
    soil = draw_soils(zone, elevation, rng, fixed)
    score = class_scores(numbers, zone, soil, fixed) + rng.gumbel(size=(n_rows, N_CLASSES))
    binary = [zone[:, None] == np.arange(N_ZONES), soil[:, None] == np.arange(N_SOILS)]
    return Sample(np.column_stack([numbers, *binary]).astype(np.float64), score.argmax(axis=1))


def draw_numbers(elevation: Array, rng: np.random.Generator) -> Array:
    """Draw elevation, aspect, slope, four distances and three hill shades, rounded."""
    n_rows = len(elevation)
    aspect, slope = rng.uniform(0, 360, n_rows), rng.gamma(4.0, 3.5, n_rows)
    water = rng.exponential(250, n_rows)
    columns = [elevation, aspect, slope, water, 0.2 * water * rng.standard_normal(n_rows)]
    # Roads and fires are near in the valleys.
    valley = np.exp((elevation - 2960) / 900)
    columns += [mean * rng.gamma(2.0, 0.5, n_rows) * valley for mean in (2300, 1950)]
    noise = 8 * rng.standard_normal((3, n_rows))
    sides = (np.cos(np.radians(aspect - hour)) for hour in (90, 180, 270))
    shades = [220 - slope * (1.2 - side) for side in sides]
    columns += list(np.clip(shades + noise, 0, 254))
    return np.column_stack(columns).round()


def draw_soils(
    zone: Array, elevation: Array, rng: np.random.Generator, fixed: np.random.Generator
) -> Array:
    """Draw the soil of each row, each of which has a zone and an elevation of its own."""
    usual_zone = fixed.integers(0, N_ZONES, N_SOILS)
    usual_elevation = fixed.normal(2960, 280, N_SOILS)
    scores = -(((elevation[:, None] - usual_elevation) / 200) ** 2)
    scores += 3.0 * (zone[:, None] == usual_zone) + rng.gumbel(size=scores.shape)
    soils: Array = scores.argmax(axis=1)
    return soils


def class_scores(numbers: Array, zone: Array, soil: Array, fixed: np.random.Generator) -> Array:
    """Return the scores of the classes: bands of elevation, soils, zones and interactions."""
    elevation, aspect, slope, water = numbers.T[:4]
    band = np.linspace(2300, 3500, N_CLASSES)[fixed.permutation(N_CLASSES)]
    width = fixed.uniform(120, 350, N_CLASSES)
    scores = -(((elevation[:, None] - band) / width) ** 2) + np.log(_FREQUENCIES)
    scores += fixed.standard_normal((N_SOILS, N_CLASSES))[soil]
    scores += fixed.standard_normal((N_ZONES, N_CLASSES))[zone]
    scores += np.outer(np.cos(np.radians(aspect)) * slope / 10, fixed.standard_normal(N_CLASSES))
    near_water = np.outer(np.exp(-water / 200), fixed.normal(0, 2.0, N_CLASSES))
    result: Array = scores + near_water * (zone[:, None] % 2 == 0)
    return result
