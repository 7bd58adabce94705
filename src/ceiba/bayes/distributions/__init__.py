"""Distributions of the columns of naive Bayes, given the class."""
