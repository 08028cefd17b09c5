"""Measures what the arena costs, beside what others cost, on the same machine in the same run."""
