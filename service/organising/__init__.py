"""The organiser's commands: they speak to an arena by its HTTP API alone, wherever it runs."""
