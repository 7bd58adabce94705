"""Pruning of trees: reduced-error, pessimistic (C4.5), cost-complexity (CART)."""
