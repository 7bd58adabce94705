"""The rows of each tree of the naive forest: numbers of draws, and class weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from tests.oracles.forest_draws import bootstrap, subset


def number_of_draws(max_samples, n_rows, total):
    """Return the number of rows, the given number, or a fraction of the total."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, int):
        return max_samples
    return max(1, round(max_samples * float(total)))


def sampled(weights, options, seed):
    """Return the weight of each row in the tree: number of draws, or its own weight or 0."""
    if options.bootstrap:
        # Of a fraction of the total weight, an integer weight stands for repeated rows.
        n_draws = number_of_draws(options.max_samples, len(weights), sum(weights))
        return bootstrap(seed, weights, n_draws)
    n = len(weights)
    chosen = set(subset(seed, n, number_of_draws(options.max_samples, n, n)))
    return [w if i in chosen else 0 for i, w in enumerate(weights)]


def sample_weights(problem, seed):
    """Return the weight of every row of the table in a tree, without class weights."""
    given = problem.target.weights
    # Rows of weight zero are ignored: the others are numbered without them.
    found = sampled([given[i] for i in problem.rows], problem.options, seed)
    weights = [0] * len(given)
    for i, own in zip(problem.rows, found, strict=True):
        weights[i] = own
    return weights


# Class weights


def balanced(values, n_classes):
    """Return factors that give all classes with rows the same weight."""
    counts = Counter(values)
    return [
        Fraction(len(values), len(counts) * counts[k]) if counts[k] else 0 for k in range(n_classes)
    ]


def class_weight_factors(problem, weights):
    """Return the factor of each class in the tree in which rows have these weights."""
    how, target = problem.options.class_weight, problem.target
    if how == "balanced":
        return balanced([target.values[i] for i in problem.rows], target.n_classes)
    if how == "balanced_subsample":
        drawn = [k for k, w in zip(target.values, weights, strict=True) for _ in range(w)]
        return balanced(drawn, target.n_classes)
    return how


def member_target(problem, seed):
    """Return the target with the weights of the rows in a tree."""
    target, weights = problem.target, sample_weights(problem, seed)
    if problem.options.class_weight is not None:
        factors = class_weight_factors(problem, weights)
        weights = [w * factors[k] for w, k in zip(weights, target.values, strict=True)]
    return replace(target, weights=weights)
