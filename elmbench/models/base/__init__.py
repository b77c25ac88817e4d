"""What several models have in common."""
