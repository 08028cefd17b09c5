"""What it takes to release: the Pythons and versions that are promised, tried; known weaknesses, looked up.

Nothing of it is in the wheel. Each module is a command: ``python -m releasing.matrix``.
"""
