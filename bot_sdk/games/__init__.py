"""The rules: pure, without clock, input or output, or randomness of their own."""
