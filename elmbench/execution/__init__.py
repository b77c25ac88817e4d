"""Running tasks: missing tasks, their order, their limits, and the store of their results.

A task passes through four frames: `engine.Run` starts what is ready, an executor chooses a worker,
a `LimitedWorker` enforces the limits of time and memory, and `attempt` runs the task there.
"""
