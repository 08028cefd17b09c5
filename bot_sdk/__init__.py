"""Everything a bot author installs: the rules, the bot contract, a host, offline matches, the client."""
