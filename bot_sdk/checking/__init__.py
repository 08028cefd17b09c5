"""The conformance check of a bot: what is sent, how the answers are judged, and how a fault gets its name."""
