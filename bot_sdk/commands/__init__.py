"""The commands of ``slagbot``, a module for what one does with a bot: each parses, calls the package and shows."""
