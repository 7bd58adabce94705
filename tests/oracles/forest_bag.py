"""The rows of each tree of a forest: how often they are drawn, and what their classes weigh."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from tests.oracles.forest_draws import bootstrap, subset


def is_whole(weights):
    return all(Fraction(w).denominator == 1 for w in weights)


def number_of_draws(wanted, usual):
    """As many as usual, a number, or a share of the usual number."""
    if wanted is None:
        return usual
    return wanted if isinstance(wanted, int) else max(1, round(wanted * usual))


def sampled(weights, options, seed):
    """The weight in the tree of each row of positive ``weights``: times drawn, or its own or 0."""
    if options.bootstrap:
        # A whole weight stands for so many rows, each of which is drawn by itself.
        usual = int(sum(weights)) if is_whole(weights) else len(weights)
        return bootstrap(seed, weights, number_of_draws(options.max_samples, usual))
    n = len(weights)
    chosen = set(subset(seed, n, number_of_draws(options.max_samples, n)))
    return [w if i in chosen else 0 for i, w in enumerate(weights)]


def bag(problem, seed):
    """The weight of every row of the table in a tree, without the weights of classes."""
    given = problem.target.weights
    # Rows without weight are not there: the others are numbered without them.
    found = sampled([given[i] for i in problem.rows], problem.options, seed)
    weights = [0] * len(given)
    for i, own in zip(problem.rows, found, strict=True):
        weights[i] = own
    return weights


# Weights of classes


def balanced(values, n_classes):
    """Factors that give all classes that are there the same weight."""
    counts = Counter(values)
    return [
        Fraction(len(values), len(counts) * counts[k]) if counts[k] else 0 for k in range(n_classes)
    ]


def class_factors(problem, weights):
    """The factor of each class in the tree in which rows have these weights."""
    how, target = problem.options.class_weight, problem.target
    if how == "balanced":
        return balanced([target.values[i] for i in problem.rows], target.n_classes)
    if how == "balanced_subsample":
        drawn = [k for k, w in zip(target.values, weights, strict=True) for _ in range(w)]
        return balanced(drawn, target.n_classes)
    return how


def member_target(problem, seed):
    """The target with the weights that rows have in a tree."""
    target, weights = problem.target, bag(problem, seed)
    if problem.options.class_weight is not None:
        factors = class_factors(problem, weights)
        weights = [w * factors[k] for w, k in zip(weights, target.values, strict=True)]
    return replace(target, weights=weights)
