"""AdaBoost: AdaBoost.M1, SAMME and SAMME.R for classes, AdaBoost.R2 for numbers."""
