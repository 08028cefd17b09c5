"""The page of one tournament: what is shown of it, worked out for its templates. No HTTP but in `pages`."""
