"""The fitted tree: its arrays, splits, traversal and checks."""
