"""Reference numbers of Bayesian network classifiers on the tables of bayes_tables.

They come from an independent NumPy prototype: whole tables (deterministic, 1e-3 in the conditional
log-likelihood), and honest 5-fold cross-validation, means and standard deviations over 25 folds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fits:
    """One structure: parameters, generative CLL, its supremum, objective and CLL at ridge 3."""

    d: int
    generative: float
    supremum: float
    objective3: float
    cll3: float


@dataclass(frozen=True)
class Structural:
    """Result of the structural search: features, arcs (lower, higher), parameters, BICd."""

    features: tuple[int, ...]
    arcs: tuple[tuple[int, int], ...]
    d: int
    bicd: float


@dataclass(frozen=True)
class Reference:
    n_rows: int
    categories: tuple[int, ...]
    nb: Fits
    tan: Fits
    structural: Structural


def digits(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split())


REFERENCE = {
    "breast": Reference(
        683,
        digits("3 4 4 3 3 4 3 3 2"),
        Fits(21, -160.184, -43.955, -58.273, -49.009),
        Fits(67, -46.334, -5.155, -56.027, -40.850),
        Structural((0, 1, 5, 7), (), 11, -85.229),
    ),
    "cleve": Reference(
        296,
        digits("2 2 4 1 1 2 3 2 2 2 3 2 3"),
        Fits(17, -124.654, -93.238, -99.577, -94.486),
        Fits(46, -96.784, -80.055, -94.254, -86.168),
        Structural((1, 2, 10, 11, 12), (), 10, -128.905),
    ),
    "iris": Reference(
        150,
        digits("3 3 3 3"),
        Fits(18, -21.517, -13.706, -35.936, -22.425),
        Fits(42, -17.331, -11.329, -39.673, -24.220),
        Structural((3,), (), 6, -36.508),
    ),
    "german": Reference(
        1000,
        digits("4 2 5 10 2 5 5 1 4 3 1 4 1 3 3 1 4 1 2 2"),
        Fits(44, -488.908, -456.805, -464.289, -457.940),
        Fits(275, -406.669, -332.709, -415.474, -388.355),
        Structural((0, 1, 2, 4), (), 10, -545.178),
    ),
    "corral": Reference(
        128,
        digits("2 2 2 2 2 2"),
        Fits(7, -37.578, -24.944, -40.239, -32.478),
        Fits(12, -10.051, 0.0, -26.352, -13.768),
        Structural((0, 1, 2, 3, 5), ((0, 1),), 7, -16.982),
    ),
    "crx": Reference(
        653,
        digits("2 2 2 3 3 14 9 2 2 2 2 2 3 2 2"),
        Fits(38, -251.715, -176.094, -193.156, -183.434),
        Fits(281, -174.733, -92.610, -175.065, -151.630),
        Structural((3, 7, 8, 10, 13, 14), ((8, 13), (8, 14)), 10, -220.525),
    ),
    "lymphography": Reference(
        148,
        digits("4 2 2 2 2 2 2 2 2 2 3 4 4 8 3 2 2 2"),
        Fits(99, -46.886, -15.994, -50.787, -37.050),
        Fits(423, -23.912, 0.0, -46.857, -29.363),
        Structural((1, 9, 12, 17), (), 21, -104.108),
    ),
    "hepatitis": Reference(
        80,
        digits("1 2 2 2 2 2 2 2 2 2 2 2 2 1 1 1 2 2 2"),
        Fits(16, -23.294, 0.0, -16.584, -12.587),
        Fits(30, -8.839, 0.0, -14.478, -9.988),
        Structural((1, 6, 17, 18), (), 5, -22.283),
    ),
    "vote": Reference(
        435,
        (3,) * 16,
        Fits(33, -257.628, 0.0, -45.182, -31.396),
        Fits(93, -50.301, 0.0, -49.326, -32.134),
        Structural((2, 3, 10), (), 7, -62.341),
    ),
    "heart": Reference(
        270,
        digits("2 2 4 1 1 2 3 2 2 2 3 2 3"),
        Fits(17, -112.909, -86.110, -92.253, -87.371),
        Fits(49, -88.473, -71.164, -87.576, -79.620),
        Structural((2, 9, 11, 12), (), 8, -120.962),
    ),
    "vertebral": Reference(
        310,
        digits("3 2 3 3 2 2"),
        Fits(20, -136.600, -100.722, -130.612, -113.627),
        Fits(48, -104.327, -88.438, -142.650, -118.088),
        Structural((3, 4, 5), (), 10, -141.631),
    ),
}


def arcs(text: str) -> frozenset[tuple[int, int]]:
    pairs = (arc.split("-") for arc in text.split())
    return frozenset((int(parent), int(child)) for parent, child in pairs)


# Pairs (parent, child) of the TAN trees, rooted at the lowest feature.
TAN_ARCS = {
    "breast": arcs("0-2 2-1 1-3 1-4 4-5 1-6 4-7 1-8"),
    "cleve": arcs("0-1 1-12 12-2 2-5 2-6 2-9 9-10 10-7 2-8 0-11"),
    "iris": arcs("0-1 0-2 2-3"),
    "corral": arcs("0-1 0-2 2-3 0-4 0-5"),
    "heart": arcs("0-7 7-10 10-2 2-12 12-1 2-5 2-6 2-8 10-9 0-11"),
    "vertebral": arcs("0-1 0-2 0-3 0-4 2-5"),
}

# Cross-validated accuracy in percent: (mean, standard deviation) over 5 splits of 5 folds.
CV_COLUMNS = (
    "NB", "NB-TM", "NB-MLE", "NB-TM+", "TAN", "TAN-TM", "TAN-MLE", "TAN-TM+", "sTM", "sTM+",
)  # fmt: skip
_CV_TEXT = """
breast 97.34 1.47 96.60 1.43 96.60 1.52 96.98 1.20 96.81 1.29 95.46 1.54 94.32 1.68 96.54 1.61 \
95.99 1.94 95.90 2.05
cleve 83.11 5.15 83.45 4.80 83.25 4.96 84.06 5.68 81.36 4.50 78.99 5.54 78.05 5.70 81.29 5.38 \
81.76 5.37 81.76 5.49
iris 93.87 3.36 94.40 3.74 94.27 3.95 94.13 3.44 93.60 3.76 93.87 3.61 93.60 3.99 93.33 4.00 \
93.47 4.37 93.47 4.37
german 73.66 2.03 73.80 2.67 73.84 2.68 74.12 2.77 72.14 2.82 69.70 2.62 68.72 3.05 73.22 2.15 \
71.40 2.58 71.52 2.60
corral 87.20 6.26 88.14 4.68 87.99 4.73 89.24 5.04 98.44 2.70 100.00 0.00 100.00 0.00 100.00 0.00 \
100.00 0.00 93.63 5.35
crx 86.34 2.33 85.39 2.42 84.90 2.37 86.34 1.75 85.97 2.44 81.97 3.34 78.04 3.75 85.82 1.45 \
86.12 1.60 86.19 1.59
lymphography 83.64 4.39 82.44 7.55 78.14 9.19 83.41 4.69 83.93 6.14 77.45 8.14 77.17 6.49 \
80.02 7.27 73.98 8.45 75.07 8.54
hepatitis 84.50 8.50 86.25 8.48 81.50 8.92 88.25 6.69 87.00 7.69 88.75 7.91 87.50 7.07 89.00 5.94 \
85.00 10.00 86.00 6.91
vote 90.11 3.39 95.31 1.89 94.30 1.91 96.05 2.06 94.21 2.31 94.67 1.81 94.30 1.88 95.26 1.96 \
95.40 2.00 95.45 2.04
heart 83.41 5.77 83.11 4.78 83.26 4.90 84.44 5.02 81.11 4.94 77.63 5.18 77.11 5.61 82.44 5.50 \
83.11 5.53 83.04 5.33
vertebral 74.77 4.40 78.77 4.55 78.45 4.56 79.16 3.90 78.65 4.83 78.71 3.95 78.39 4.33 77.68 4.73 \
78.71 3.90 79.16 4.05
"""


def _accuracies() -> dict[str, dict[str, tuple[float, float]]]:
    table = {}
    for line in _CV_TEXT.split("\n"):
        if line:
            name, *words = line.split()
            numbers = [float(word) for word in words]
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            table[name] = dict(zip(CV_COLUMNS, pairs, strict=True))
    return table


CV_ACCURACY = _accuracies()
# Mean over the tables of -log p(true class), with probabilities below LOG_LOSS_CLIP raised to it.
LOG_LOSS_CLIP = 1e-6
CV_MEAN_LOG_LOSS = dict(
    zip(
        CV_COLUMNS,
        (0.435, 0.485, 0.844, 0.314, 0.353, 0.764, 1.129, 0.329, 0.523, 0.354),
        strict=True,
    )
)
# Points by which another implementation may differ on the same folds; structures and stopping
# rules have ties and paths. TM columns: 5 on lymphography and hepatitis.
CV_TOLERANCE = {
    "NB": 0.3, "NB-TM": 1.5, "NB-MLE": 2.0, "NB-TM+": 0.3, "TAN": 0.3, "TAN-TM": 1.5,
    "TAN-MLE": 2.0, "TAN-TM+": 0.3, "sTM": 1.0, "sTM+": 1.0,
}  # fmt: skip
# The ridge optimum of corral's structures is unique, with an accuracy of 95.64 +- 4.70, or within
# 0.4 of it with either of the tied arcs 0-1 and 2-3; the prototype's 93.63 is not reproduced.
CV_NOT_REPRODUCED = {("corral", "sTM+")}

# Accuracies of the five folds of seed 0.
FOLDS_OF_SEED_0 = {
    ("iris", "NB"): (96.67, 90.00, 100.00, 93.33, 90.00),
    ("vote", "NB"): (90.80, 86.21, 93.10, 88.51, 90.80),
    ("hepatitis", "NB"): (81.25, 87.50, 93.75, 68.75, 93.75),
    ("vote", "NB-TM+"): (97.70, 97.70, 98.85, 94.25, 93.10),
    ("heart", "NB-TM+"): (81.48, 88.89, 85.19, 85.19, 83.33),
}
