"""Loading: from a name to a prepared data set."""
