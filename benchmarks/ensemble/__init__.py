"""AdaBoost and bagging: peers that the workloads share."""
