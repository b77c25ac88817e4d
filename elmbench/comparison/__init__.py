"""Requests, budgets and final models of `elmbench compare`; the ranking is in
`elmbench.evaluation.model_order`, the table in `elmbench.tables.comparison`.
"""
