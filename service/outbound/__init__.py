"""The one place that calls bots."""
