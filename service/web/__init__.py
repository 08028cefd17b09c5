"""Static files and templates."""
