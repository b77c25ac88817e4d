"""Running work: missing work, its order, its limits, and the store of its results.

Work passes through four frames: `engine.Run` starts what is ready, an executor chooses a worker, a
`Sandbox` keeps the worker within its limits, and `attempt` runs the work there.
"""
