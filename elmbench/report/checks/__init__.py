"""The checks of `elmbench check`: with the baseline, with the published values, of the print."""
