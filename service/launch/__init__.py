"""Starts what the arena runs on: an embedded Valkey and the processes of `slagveld up`."""
