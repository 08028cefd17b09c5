"""Prometheus' configuration: what it would find by name stands in it by address."""

from __future__ import annotations

import yaml

from tests.deployment.composefile import UnknownError

PLAIN = {"global", "rule_files"}


def translated(text, place):
    """Give the configuration for a place; it asks the system's name service, which knows none of ours."""
    read = yaml.safe_load(text)
    if unknown := set(read) - PLAIN - {"scrape_configs"}:
        raise UnknownError(f"nothing is known of {', '.join(sorted(unknown))}")
    return yaml.safe_dump(read | {"scrape_configs": [_job(job, place.ground) for job in read["scrape_configs"]]})


def _job(job, ground):
    if set(job) != {"job_name", "dns_sd_configs"}:
        raise UnknownError(f"expected a job that finds its targets by name, got {job}")
    targets = [target for found in job["dns_sd_configs"] for target in _targets(found, ground)]
    return {"job_name": job["job_name"], "static_configs": [{"targets": targets}]}


def _targets(found, ground):
    if set(found) - {"refresh_interval"} != {"names", "type", "port"} or found["type"] != "A":
        raise UnknownError(f"expected names and a port, got {found}")
    if unknown := set(found["names"]) - set(ground.names):
        raise UnknownError(f"nobody is known as {', '.join(unknown)}")
    return [f"{address}:{ground.port(found['port'])}" for name in found["names"] for address in ground.names[name]]
