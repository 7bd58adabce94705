"""Discriminative training: maximize the conditional likelihood of the class given the features."""
