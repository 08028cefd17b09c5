"""The one place that speaks Redis; it knows no rules."""
