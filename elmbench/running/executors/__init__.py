"""Where work is done: an executor takes tasks and yields their results, whatever processes or machines it uses."""
