"""How our processes log: to stderr, a line each, as text for people or as JSON for what collects lines.

Lines are written whole, nothing in them can pass for another line, and no card, token or secret is told. It imports
nothing of ours: gunicorn loads it before the process is one of greenlets.
"""
