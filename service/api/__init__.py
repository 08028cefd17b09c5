"""One module per resource: parse, call one use case, answer."""
