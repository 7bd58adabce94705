"""Naive k-means: lists of rows, loops, one formula at a time.

A row is a list of numbers in which NaN is missing. Nothing of Ceiba is used here: the
counter-based random number generator is written out as well.
"""

from __future__ import annotations

import math
from fractions import Fraction

# Random numbers by counter


def philox(counter, key):
    """Philox 4x32 with ten rounds: four words from a counter of four and a key of two."""
    a, b, c, d = counter
    k, m = key
    word = 2**32
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (
            second // word ^ b ^ k,
            second % word,
            first // word ^ d ^ m,
            first % word,
        )
        k, m = (k + 0x9E3779B9) % word, (m + 0xBB67AE85) % word
    return a, b, c, d


def uniform(seed, stream, row):
    """The draw of a row: 52 bits of the first two words, in the middle of their cell."""
    word = 2**32
    high, low, _, _ = philox(
        (row % word, row // word, stream % word, stream // word), (seed % word, seed // word)
    )
    return ((high * word + low) // 2**12 + 0.5) / 2**52


# Distances and sums


def observed(value):
    return not math.isnan(value)


def squared(row, center):
    """Squared distance over the columns that the row has."""
    total = 0.0
    for x, c in zip(row, center, strict=True):
        if observed(x):
            total += (x - c) * (x - c)
    return total


def exact_squared(row, center):
    """The same without any rounding."""
    pairs = [(x, c) for x, c in zip(row, center, strict=True) if observed(x)]
    return sum(((Fraction(x) - Fraction(c)) ** 2 for x, c in pairs), Fraction(0))


def scaled_distance(row, center):
    """Distance scaled up from the columns that the row has to all of them."""
    there = sum(observed(x) for x in row)
    return math.sqrt(squared(row, center) * len(row) / there)


def first_smallest(values):
    """Index of the smallest value; ties go to the first."""
    best = 0
    for index, value in enumerate(values):
        if value < values[best]:
            best = index
    return best


def label(row, centers):
    return first_smallest([squared(row, center) for center in centers])


def labels(rows, centers):
    return [label(row, centers) for row in rows]


def exact_labels(rows, centers):
    """Labels in exact arithmetic, which rounding must not change."""
    return [first_smallest([exact_squared(row, center) for center in centers]) for row in rows]


def inertia(rows, weights, centers):
    """Weighted sum of squared distances to the nearest center."""
    return math.fsum(
        weight * squared(row, centers[label(row, centers)])
        for row, weight in zip(rows, weights, strict=True)
    )


def column_weights(rows, weights, own, k):
    """Weight of the observed values per center and column."""
    d = len(rows[0])
    return [
        [
            math.fsum(
                w for x, w, o in zip(rows, weights, own, strict=True) if o == c and observed(x[j])
            )
            for j in range(d)
        ]
        for c in range(k)
    ]


def column_sums(rows, weights, own, k, offset):
    """Weighted sum of the rows per center and column, relative to an offset."""
    d = len(rows[0])
    return [
        [
            math.fsum(
                w * (x[j] - offset[j])
                for x, w, o in zip(rows, weights, own, strict=True)
                if o == c and observed(x[j])
            )
            for j in range(d)
        ]
        for c in range(k)
    ]


def means(rows, weights, own, centers):
    """Mean of each center's rows; an unobserved coordinate keeps its value."""
    k, zero = len(centers), [0.0] * len(rows[0])
    total = column_weights(rows, weights, own, k)
    summed = column_sums(rows, weights, own, k, zero)
    return [
        [s / w if w > 0 else c for s, w, c in zip(summed[i], total[i], centers[i], strict=True)]
        for i in range(k)
    ]


def moments(rows, weights):
    """Weight, mean, centered sum of squares, minimum and maximum per column, without rounding."""
    found = []
    for j in range(len(rows[0])):
        pairs = [
            (Fraction(row[j]), Fraction(w))
            for row, w in zip(rows, weights, strict=True)
            if observed(row[j])
        ]
        weight = sum((w for _, w in pairs), Fraction(0))
        if not weight:
            found.append((0.0, None, 0.0, math.inf, -math.inf))
            continue
        mean = sum(x * w for x, w in pairs) / weight
        squares = sum(w * (x - mean) ** 2 for x, w in pairs)
        values = [x for x, _ in pairs]
        found.append(tuple(map(float, (weight, mean, squares, min(values), max(values)))))
    return found


# Lloyd's algorithm


def relocate(rows, weights, own, centers):
    """Move the row farthest from its center, unless it is alone there, to each empty cluster."""
    own = list(own)
    far = [squared(row, centers[o]) for row, o in zip(rows, own, strict=True)]
    order = sorted(range(len(rows)), key=lambda i: (-far[i], i))
    for empty in [c for c in range(len(centers)) if c not in own]:
        for i in order:
            if far[i] > 0 and own.count(own[i]) > 1:
                own[i] = empty
                order.remove(i)
                break
    return own


def lloyd(rows, weights, centers, tol, max_iter):
    """Frames of all iterations and the final centers."""
    frames, before = [], None
    for _ in range(max_iter):
        own = labels(rows, centers)
        frames.append(
            {
                "centers": centers,
                "labels": own,
                "inertia": inertia(rows, weights, centers),
                "moved": sum(before is None or a != before[i] for i, a in enumerate(own)),
            }
        )
        before = own
        moved = means(rows, weights, relocate(rows, weights, own, centers), centers)
        shift = sum(squared(a, b) for a, b in zip(moved, centers, strict=True))
        centers = moved
        if shift <= tol:
            break
    return frames, centers


def tolerance(rows, weights, tol):
    """A fraction of the columns' mean variance."""
    variances = [squares / weight for weight, _, squares, _, _ in moments(rows, weights)]
    return tol * math.fsum(variances) / len(variances)


def running_mean(centers, seen, rows, weights):
    """One batch of mini-batch k-means: move centers to the mean of all their rows so far."""
    own = labels(rows, centers)
    k = len(centers)
    new = column_weights(rows, weights, own, k)
    summed = column_sums(rows, weights, own, k, [0.0] * len(rows[0]))
    total = [[s + w for s, w in zip(*pair, strict=True)] for pair in zip(seen, new, strict=True)]
    moved = [
        [
            (c * s + x) / t if t > 0 else c
            for c, s, x, t in zip(centers[i], seen[i], summed[i], total[i], strict=True)
        ]
        for i in range(k)
    ]
    return moved, total


# Initialization


def draw_order(rates, seed, run, step, n_drawn):
    """Rows in the order of their exponential keys; a row of rate zero is never drawn."""
    stream = run * 2**32 + step
    keys = [
        (-math.log(uniform(seed, stream, i)) / rate, i) for i, rate in enumerate(rates) if rate > 0
    ]
    return [row for _, row in sorted(keys)[:n_drawn]]


def filled(row, mean):
    """A row with the columns' means in index of missing values."""
    return [x if observed(x) else m for x, m in zip(row, mean, strict=True)]


def random_rows(rows, weights, k, seed, run=0):
    """Different rows, drawn by their weights."""
    mean = [column[1] for column in moments(rows, weights)]
    return [filled(rows[i], mean) for i in draw_order(weights, seed, run, 0, k)]


def rates_with(rows, weights, nearest, candidate):
    """Weight times squared distance to the nearest center, the candidate included."""
    return [
        w * min(d, squared(row, candidate))
        for row, w, d in zip(rows, weights, nearest, strict=True)
    ]


def kmeans_plusplus(rows, weights, k, seed, run=0):
    """Greedy k-means++: of a few candidates the one that leaves the smallest potential."""
    mean = [column[1] for column in moments(rows, weights)]
    n_trials = 2 + int(math.log(k))
    chosen, nearest = [], [math.inf] * len(rows)
    candidates = random_rows(rows, weights, 1, seed, run)
    while True:
        rates = [rates_with(rows, weights, nearest, candidate) for candidate in candidates]
        best = first_smallest([math.fsum(rate) for rate in rates])
        chosen.append(candidates[best])
        if len(chosen) == k:
            return chosen
        nearest = [min(d, squared(row, chosen[-1])) for row, d in zip(rows, nearest, strict=True)]
        drawn = draw_order(rates[best], seed, run, len(chosen), n_trials)
        candidates = [filled(rows[i], mean) for i in drawn]
        if not candidates:
            # Every row lies on a center: the remaining centers repeat rows.
            return (chosen + random_rows(rows, weights, k, seed, run))[:k]
