"""What is computed from raw predictions: scores, tables, tests between learners."""
