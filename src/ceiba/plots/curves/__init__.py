"""Curves: out-of-bag error, permutation importance, margins, impurity."""
