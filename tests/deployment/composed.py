"""Runs services of docker-compose.yml as processes, with the commands, environment and health checks of the file.

What an engine would do is done here: order by dependencies, health, mounts, secrets, names. What it alone can do isn't:
users, read-only roots, capabilities, limits, and which network reaches which.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from service.launch.tied import tie
from tests.deployment import composefile, nginx_conf, prometheus_yml
from tests.deployment.composefile import ROOT, UnknownError
from tests.deployment.names import Names
from tests.deployment.translating import Ground, Place

DONE = """
    command entrypoint environment healthcheck depends_on volumes secrets tmpfs stop_signal stop_grace_period networks
    deploy
"""
"""What is said of a service and done here."""
LEFT = "image build user init read_only cap_drop security_opt logging network_mode restart ports profiles"
"""What is said of a service and left to an engine; images are programs of this machine instead."""
IMAGE = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
"""The environment that our image brings."""
CONFIGURED = {
    "./deploy/nginx.conf": nginx_conf.main,
    "./deploy/listen.conf": nginx_conf.translated,
    "./deploy/listen-tls.conf": nginx_conf.translated,
    "./deploy/prometheus.yml": prometheus_yml.translated,
    "./deploy/alerts.yml": lambda text, _place: text,  # rules speak of metrics alone
}
"""Files of services, and how each becomes what holds here."""
HEALTHY_S = 120.0


class Replica:
    """One process of a service."""

    def __init__(self, service, number, place, command, environment, check, log):
        self.service = service
        self.number = number
        self.place = place
        self.log = log
        self._command = command
        self._environment = environment
        self._check = check
        self.child = None

    def start(self):
        with self.log.open("ab") as said:
            self.child = subprocess.Popen(
                self._command,
                cwd=self.place.folders["/tmp"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                preexec_fn=tie(),  # noqa: PLW1509 - two system calls, no locks
            )

    @property
    def is_healthy(self):
        """Whether the file's own health check says so."""
        assert self.child.poll() is None, f"{self.service} ended: {self.said()}"
        return self.run(self._check).returncode == 0

    def run(self, words):
        """Run a command where this one runs, as `docker compose exec` does."""
        return subprocess.run(
            self.place.command(words),
            env=self._environment,
            cwd=self.place.folders["/tmp"],
            capture_output=True,
            text=True,
            timeout=HEALTHY_S,
            check=False,
        )

    def kill(self):
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait(timeout=10)

    def said(self):
        return self.log.read_text(errors="replace")[-3_000:]


class Composition:
    """Services as processes; use it in a `with`. `variables` are those of the file, as an operator would set them."""

    def __init__(self, folder, variables=None):
        self.folder = folder
        self.ground = Ground()
        self._replicas = {}
        for name, service in composefile.read()["services"].items():
            self.ground.settle(name, service.get("deploy", {}).get("replicas", 1), _fixed(service))
        scheme, port = ("https", 8443) if "TLS_CERTIFICATE" in (variables or {}) else ("http", 8080)
        self.url = f"{scheme}://{self.ground.names['proxy'][0]}:{self.ground.port(port)}"
        self._file = composefile.read({"PUBLIC_URL": self.url, **(variables or {})})
        self._names = Names(self.ground.resolver, self.ground.port(53))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            for replica in self._started():
                replica.kill()
        finally:
            self._names.close()

    # --- what an engine does ------------------------------------------------------------------------------------------

    def up(self, *wanted):
        """Start services and all that they depend on, each when what it depends on is well; wait for their health."""
        for name in (each for each in self._ordered(wanted) if each not in self._replicas):
            self._start(name)
        for name in wanted:
            ends = self.service(name)["restart"] == "no"
            self._wait(name, "service_completed_successfully" if ends else "service_healthy")

    def _ordered(self, wanted):
        ordered = []

        def visit(name):
            for other in self.service(name).get("depends_on", {}):
                visit(other)
            if name not in ordered:
                ordered.append(name)

        for name in wanted:
            visit(name)
        return ordered

    def _start(self, name):
        for other, how in self.service(name).get("depends_on", {}).items():
            self._wait(other, how["condition"])
        self._replicas[name] = [self._replica(name, number) for number in range(len(self.ground.names[name]))]
        for replica in self._replicas[name]:
            replica.start()
        self._tell_names(name)

    def _wait(self, name, condition):
        ends = time.monotonic() + HEALTHY_S
        for replica in self._replicas[name]:
            if condition == "service_completed_successfully":
                assert replica.child.wait(timeout=HEALTHY_S) == 0, f"{name}: {replica.said()}"
            elif condition == "service_healthy":
                while not replica.is_healthy:
                    assert time.monotonic() < ends, f"{name} isn't healthy: {replica.said()}"
                    time.sleep(0.4)
            else:
                raise UnknownError(f"no condition is known as {condition}")

    def kill(self, name, number):
        """Have a replica die at once; its name is gone with it."""
        self._replicas[name][number].kill()
        self._tell_names(name)

    def start_again(self, name, number):
        """Do what `restart` does: start one that died anew, at its address; wait until it is well."""
        self._replicas[name][number].start()
        self._tell_names(name)
        self._wait(name, "service_healthy")

    def again(self, name):
        """Have a service that ends run once more, and end well."""
        for replica in self._replicas[name]:
            replica.start()
        self._wait(name, "service_completed_successfully")

    def _tell_names(self, name):
        alive = [each.place.address for each in self._replicas[name] if each.child.poll() is None]
        self._names.addresses[name] = alive

    def down(self):
        """Stop everything as an engine does, what depends on others first; fails for what doesn't end well in time."""
        for name in reversed(self._replicas):
            service = self.service(name)
            within_s = float(service["stop_grace_period"].removesuffix("s"))
            for replica in self._replicas[name]:
                replica.child.send_signal(signal.Signals[service.get("stop_signal", "SIGTERM")])
            for replica in self._replicas[name]:
                status = replica.child.wait(timeout=within_s)
                assert status == 0, f"{name} ended with {status}: {replica.said()}"

    def _started(self):
        return [each for replicas in self._replicas.values() for each in replicas if each.child is not None]

    # --- what a container is made of ----------------------------------------------------------------------------------

    def service(self, name):
        return self._file["services"][name]

    def _replica(self, name, number):
        service = self.service(name)
        if unknown := set(service) - {*DONE.split(), *LEFT.split()}:
            raise UnknownError(f"nothing is known of {', '.join(sorted(unknown))} of {name}")
        home = self.folder / name / str(number)
        home.mkdir(parents=True)
        place = Place(self.ground, self.ground.names[name][number], self._folders(service, home))
        self._configure(place, service)
        given = {key: place.text(value) for key, value in service.get("environment", {}).items()}
        environment = (
            IMAGE | given | {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": place.path("/tmp")}
        )
        command = place.command([*service.get("entrypoint", []), *service["command"]])
        how, *check = service.get("healthcheck", {}).get("test", ["CMD", "python"])
        if how != "CMD":
            raise UnknownError(f"expected a health check by CMD, got {how}")
        return Replica(name, number, place, command, environment, check, home / "log")

    def _folders(self, service, home):
        folders = {target: self._mounted(source, target, home) for source, target in _mounts(service)}
        for each in service.get("secrets", []):
            folders[f"/run/secrets/{each}"] = (ROOT / self._file["secrets"][each]["file"]).resolve()
        for target in ("/tmp", *(each.partition(":")[0] for each in service.get("tmpfs", []))):
            folders[target] = home / target.strip("/")
            folders[target].mkdir(exist_ok=True)
        return folders

    def _mounted(self, source, target, home):
        if source in CONFIGURED:
            return home / "etc" / Path(target).name
        if source.startswith("./"):
            if not source.endswith(".py"):
                raise UnknownError(f"nothing is known of {source}")
            return ROOT / source
        folder = self.folder / "volumes" / source
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _configure(self, place, service):
        """Put what is configured by files where our process reads it, translated."""
        for source, target in _mounts(service):
            if source in CONFIGURED:
                ours = Path(place.path(target))
                ours.parent.mkdir(exist_ok=True)
                ours.write_text(CONFIGURED[source]((ROOT / source).read_text(), place))

    def run(self, name, *words):
        """Run a command in the first replica of a service."""
        return self._replicas[name][0].run(words)

    def volume(self, name):
        """Give the folder of a volume."""
        return self.folder / "volumes" / name

    def said(self, name):
        return "\n".join(each.said() for each in self._replicas[name])


def _fixed(service):
    networks = service.get("networks", [])
    return networks["bots"]["ipv4_address"] if isinstance(networks, dict) else None


def _mounts(service):
    return [tuple(volume.split(":")[:2]) for volume in service.get("volumes", [])]
