"""The protocol of an evaluation: splits of the rows, scaling of inputs and targets, metrics."""
