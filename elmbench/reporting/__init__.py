"""From stored cells to tables and verdicts."""
