"""A newer Debian in a folder, for the Pythons that this machine doesn't have: it takes root, debootstrap and a mirror.

The mirror is the one that this machine's own apt uses. Commands run in the folder by chroot, each in mounts and
processes of its own: when it ends, whatever it started ends, and nothing stays mounted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CODENAME: Final = "forky"
VERSIONS: Final = ("3.14", "3.15")
"""The Pythons it has."""
PACKAGES: Final = ("ca-certificates", *(f"python{each}{part}" for each in VERSIONS for part in ("", "-venv")))
SCRIPT: Final = Path("/usr/share/debootstrap/scripts/sid")
"""How a Debian newer than debootstrap itself is set up."""
TOOLS: Final = ("apt-get", "chroot", "debootstrap", "mount", "unshare")
CERTIFICATES: Final = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT")
PATIENCE_S: Final = 1800
_APART: Final = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c")
"""With mounts and processes of its own: both end with the command."""
_ENTER: Final = """
set -e
inside=$1; here=$2; shift 2
mkdir -p "$inside$here"
mount --bind "$here" "$inside$here"
mount -t proc proc "$inside/proc"
mount --rbind /sys "$inside/sys"
mount --rbind /dev "$inside/dev"
set +e
chroot "$inside" "$@"
exit $?  # after a command, not by it: whoever is process 1 has orphans to wait for, and is deaf to signals
"""


class DebianError(Exception):
    """A Debian can't be had here; the message says what it takes."""


@dataclass(frozen=True, slots=True)
class Debian:
    """A Debian in a folder, in which `here`, a folder of this machine, is where it is outside."""

    folder: Path
    here: Path

    def command(self, arguments: Sequence[str | Path]) -> list[str]:
        """Give the command line that runs these arguments inside, in `here`."""
        inside = ["env", f"--chdir={self.here}", *(str(each) for each in arguments)]
        return [*_APART, _ENTER, "sh", str(self.folder), str(self.here), *inside]

    def add(self, program: Path) -> None:
        """Put a program that stands on its own among those inside."""
        shutil.copy(program, self.folder / "usr" / "local" / "bin")


def bootstrapped(folder: Path, here: Path, environment: Mapping[str, str]) -> Debian:
    """Set up a Debian in the folder, unless it is there; raises `DebianError` where that can't be done.

    It gets this machine's name servers, and the certificates that the environment names.
    """
    if not folder.is_dir():
        if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
            raise DebianError(f"expected {', '.join(TOOLS)}, {', '.join(missing)} missing")
        if os.geteuid() != 0:
            raise DebianError("expected to be root, whom debootstrap and chroot need")
        _bootstrap(folder)
    for name in ("/etc/resolv.conf", *(environment[each] for each in CERTIFICATES if environment.get(each))):
        inside = folder / name.lstrip("/")
        inside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, inside)
    return Debian(folder, here)


def mirror() -> str:
    """Give the address that this machine's apt has Debian from; raises `DebianError` if it has it from nowhere."""
    asked = ["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"]
    ran = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    for line in ran.stdout.splitlines():
        label, _, address = line.partition(" ")
        if label == "Debian":
            return address
    raise DebianError("expected Debian among apt's sources, got none: apt-get update may help")


def _bootstrap(folder: Path) -> None:
    """Set it up beside its place and move it there, so that what is there is whole."""
    unfinished = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)  # mostly there is none
    what = ["--variant=minbase", f"--include={','.join(PACKAGES)}"]
    try:
        ran = subprocess.run(
            [*_APART, 'debootstrap "$@"; exit $?', "sh", *what, CODENAME, str(unfinished), mirror(), str(SCRIPT)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise DebianError(f"expected debootstrap to end within {PATIENCE_S} s") from error
    if ran.returncode:
        raise DebianError(f"expected debootstrap to work, got status {ran.returncode}: {ran.stdout[-300:].strip()}")
    unfinished.rename(folder)
