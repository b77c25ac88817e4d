"""The protocol of an evaluation: splits of the rows, predictions, and comparison of scores."""
