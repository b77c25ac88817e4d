"""Verdicts on values, tables and papers: the rules that compare our results with the print."""
