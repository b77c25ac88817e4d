"""The speed of elmbench against other implementations, measured: `make bench`.

A row compares one side, usually a search or a fit by elmbench, with another one: the same
candidates, folds and scores by scikit-learn, by one fit each or by another package, or a bound from
the arithmetic or memory of the machine. Both sides are timed in turn, with one thread of linear
algebra; see `measure`. Nothing here is a test.
"""
