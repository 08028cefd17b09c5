"""The use cases: accounts, bots, games, tournaments. No HTTP and no Redis commands here."""
