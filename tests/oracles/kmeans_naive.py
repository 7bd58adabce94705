"""k-means as a student would write it: lists of rows, loops, one formula at a time.

A row is a list of numbers in which NaN is a gap. Nothing of Ceiba is used here, not even its random
numbers: the counter-based generator is written out as well.
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


def squared(row, centre):
    """Squared distance over the columns that the row has."""
    total = 0.0
    for x, c in zip(row, centre, strict=True):
        if observed(x):
            total += (x - c) * (x - c)
    return total


def exact_squared(row, centre):
    """The same without any rounding."""
    pairs = [(x, c) for x, c in zip(row, centre, strict=True) if observed(x)]
    return sum(((Fraction(x) - Fraction(c)) ** 2 for x, c in pairs), Fraction(0))


def scaled_distance(row, centre):
    """Distance scaled up from the columns that the row has to all of them."""
    there = sum(observed(x) for x in row)
    return math.sqrt(squared(row, centre) * len(row) / there)


def first_least(values):
    """Place of the least value; of equal ones the first."""
    best = 0
    for place, value in enumerate(values):
        if value < values[best]:
            best = place
    return best


def label(row, centres):
    return first_least([squared(row, centre) for centre in centres])


def labels(rows, centres):
    return [label(row, centres) for row in rows]


def exact_labels(rows, centres):
    """Labels in exact arithmetic: what rounding may never change."""
    return [first_least([exact_squared(row, centre) for centre in centres]) for row in rows]


def inertia(rows, weights, centres):
    """Weighted sum of squared distances to the nearest centre."""
    return math.fsum(
        weight * squared(row, centres[label(row, centres)])
        for row, weight in zip(rows, weights, strict=True)
    )


def column_weights(rows, weights, own, k):
    """For each centre and column the weight of what its rows have there."""
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
    """For each centre and column the weighted sum of its rows, relative to an offset."""
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


def means(rows, weights, own, centres):
    """The mean of each centre's rows; a coordinate that none of them has stays."""
    k, zero = len(centres), [0.0] * len(rows[0])
    total = column_weights(rows, weights, own, k)
    summed = column_sums(rows, weights, own, k, zero)
    return [
        [s / w if w > 0 else c for s, w, c in zip(summed[i], total[i], centres[i], strict=True)]
        for i in range(k)
    ]


def moments(rows, weights):
    """For each column: weight, mean, centred sum of squares, least and most; nothing is rounded."""
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


def repair(rows, weights, own, centres):
    """Each empty cluster takes the row farthest from its centre, unless that row is alone there."""
    own = list(own)
    far = [squared(row, centres[o]) for row, o in zip(rows, own, strict=True)]
    order = sorted(range(len(rows)), key=lambda i: (-far[i], i))
    for empty in [c for c in range(len(centres)) if c not in own]:
        for i in order:
            if far[i] > 0 and own.count(own[i]) > 1:
                own[i] = empty
                order.remove(i)
                break
    return own


def lloyd(rows, weights, centres, tol, max_iter):
    """Frames of all steps and the centres at the end."""
    frames, before = [], None
    for _ in range(max_iter):
        own = labels(rows, centres)
        frames.append(
            {
                "centres": centres,
                "labels": own,
                "inertia": inertia(rows, weights, centres),
                "moved": sum(before is None or a != before[i] for i, a in enumerate(own)),
            }
        )
        before = own
        moved = means(rows, weights, repair(rows, weights, own, centres), centres)
        shift = sum(squared(a, b) for a, b in zip(moved, centres, strict=True))
        centres = moved
        if shift <= tol:
            break
    return frames, centres


def tolerance(rows, weights, tol):
    """A share of the columns' mean variance."""
    variances = [squares / weight for weight, _, squares, _, _ in moments(rows, weights)]
    return tol * math.fsum(variances) / len(variances)


def running_mean(centres, seen, rows, weights):
    """One batch of mini-batch k-means: centres go to the mean of all they have been given."""
    own = labels(rows, centres)
    k = len(centres)
    new = column_weights(rows, weights, own, k)
    summed = column_sums(rows, weights, own, k, [0.0] * len(rows[0]))
    total = [[s + w for s, w in zip(*pair, strict=True)] for pair in zip(seen, new, strict=True)]
    moved = [
        [
            (c * s + x) / t if t > 0 else c
            for c, s, x, t in zip(centres[i], seen[i], summed[i], total[i], strict=True)
        ]
        for i in range(k)
    ]
    return moved, total


# The start


def race(rates, seed, run, step, places):
    """Rows in the order of their exponential finish times; a row of rate zero does not run."""
    stream = run * 2**32 + step
    times = [
        (-math.log(uniform(seed, stream, i)) / rate, i) for i, rate in enumerate(rates) if rate > 0
    ]
    return [row for _, row in sorted(times)[:places]]


def filled(row, mean):
    """A row with the columns' means in its gaps: a centre has no gaps."""
    return [x if observed(x) else m for x, m in zip(row, mean, strict=True)]


def random_rows(rows, weights, k, seed, run=0):
    """Different rows, drawn by their weights."""
    mean = [column[1] for column in moments(rows, weights)]
    return [filled(rows[i], mean) for i in race(weights, seed, run, 0, k)]


def rates_with(rows, weights, nearest, candidate):
    """Weight times squared distance to the nearest centre, were the candidate one of them."""
    return [
        w * min(d, squared(row, candidate))
        for row, w, d in zip(rows, weights, nearest, strict=True)
    ]


def plus_plus(rows, weights, k, seed, run=0):
    """Greedy k-means++: of a few candidates the one that leaves the least potential."""
    mean = [column[1] for column in moments(rows, weights)]
    trials = 2 + int(math.log(k))
    chosen, nearest = [], [math.inf] * len(rows)
    candidates = random_rows(rows, weights, 1, seed, run)
    while True:
        rates = [rates_with(rows, weights, nearest, candidate) for candidate in candidates]
        best = first_least([math.fsum(rate) for rate in rates])
        chosen.append(candidates[best])
        if len(chosen) == k:
            return chosen
        nearest = [min(d, squared(row, chosen[-1])) for row, d in zip(rows, nearest, strict=True)]
        runners = race(rates[best], seed, run, len(chosen), trials)
        candidates = [filled(rows[i], mean) for i in runners]
        if not candidates:
            # Every row lies on a centre: the rest repeat some.
            return (chosen + random_rows(rows, weights, k, seed, run))[:k]
