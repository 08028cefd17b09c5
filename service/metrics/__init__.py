"""What our processes count and time, and how Prometheus comes to read it. It never names a bot or a game."""
