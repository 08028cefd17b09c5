"""Bots to start from, a screen each. Serve one by `slagbot serve bot_sdk/examples/cautious.py`, copy it, change it."""
