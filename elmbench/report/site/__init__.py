"""The static site of the results: its findings, pictures and pages."""
