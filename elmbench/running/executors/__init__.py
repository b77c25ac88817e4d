"""Executors: they take work and return results, from processes of this machine or from a cluster."""
