"""Carries out a Dockerfile's steps without a container engine, and runs what it would run: Linux, root, this machine.

Each stage is an overlay over this machine's own files in place of its base image, so nothing here changes: COPY and RUN
do what they say, under `chroot`. At the end the command of the last stage runs as its user until its health check
succeeds, and is told to stop. What the base image itself brings is not tried; `python` is this machine's.

    sudo python scripts/docker_steps.py [deploy/Dockerfile]
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
_HEALTHY_SECONDS = 120.0
_STOP_SECONDS = 30.0


@dataclass
class Stage:
    """A stage of the build so far."""

    name: str
    root: Path
    environment: dict[str, str]
    folder: str = "/"
    user: str = "0:0"
    health: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def run(self, command: list[str], **options: object) -> subprocess.Popen[bytes]:
        """Start a command in the stage, as its user."""
        user, _, group = self.user.partition(":")
        inside = f"cd {shlex.quote(self.folder)} && exec {shlex.join(command)}"
        chroot = ["chroot", f"--userspec={user}:{group or user}", str(self.root), "/bin/sh", "-c", inside]
        return subprocess.Popen(chroot, env=self.environment, **options)  # type: ignore[call-overload,no-any-return]

    def path(self, written: str) -> Path:
        """Where a path of the Dockerfile lies on this machine."""
        absolute = written if written.startswith("/") else f"{self.folder}/{written}"
        return self.root / absolute.lstrip("/")


def instructions(file: Path) -> Iterator[tuple[str, str]]:
    """Each instruction and what follows it, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", "".join(line for line in file.open() if not line.lstrip().startswith("#")))
    for line in filter(str.strip, joined.splitlines()):
        word, _, rest = line.partition(" ")
        yield word.upper(), rest.strip()


def overlay(folder: Path, python: Path) -> Path:
    """A copy of this machine's files that can be changed, with `python` among the commands."""
    for name in ("upper", "work", "merged"):
        (folder / name).mkdir()
    options = f"lowerdir=/,upperdir={folder / 'upper'},workdir={folder / 'work'}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, folder / "merged"], check=True)
    for name in ("proc", "dev", "sys"):
        subprocess.run(["mount", "--rbind", f"/{name}", folder / "merged" / name], check=True)
    command = folder / "merged/usr/local/bin/python"
    command.unlink(missing_ok=True)
    command.symlink_to(python)
    return folder / "merged"


def build(file: Path, scratch: Path, python: Path) -> Stage:
    """Carry out all steps; returns the last stage. Errors: `SystemExit` for a step that fails or is not known."""
    stages: list[Stage] = []
    arguments: dict[str, str] = {}
    for word, rest in instructions(file):
        print(f"{word} {rest}", flush=True)
        stage = stages[-1] if stages else None
        if word == "FROM":
            folder = scratch / f"stage{len(stages)}"
            folder.mkdir()
            name = rest.partition(" AS ")[2] or str(len(stages))
            path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            kept = {key: value for key, value in os.environ.items() if key.startswith("PIP_") or "proxy" in key.lower()}
            stages.append(Stage(name, overlay(folder, python), kept | {"PATH": path, "HOME": "/root"}))
        elif stage is None:
            raise SystemExit(f"{word} before FROM")
        elif word == "ARG":
            name, _, value = rest.partition("=")
            arguments[name] = value
        elif word == "WORKDIR":
            stage.folder = rest
            stage.path(rest).mkdir(parents=True, exist_ok=True)
        elif word == "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                stage.environment[name] = value.replace("$PATH", stage.environment["PATH"])
        elif word == "COPY":
            copy(rest, stage, {each.name: each for each in stages})
        elif word == "RUN":
            with_arguments = Stage(stage.name, stage.root, stage.environment | arguments, stage.folder, stage.user)
            if code := with_arguments.run(["/bin/sh", "-c", rest]).wait():
                raise SystemExit(f"the step ended with code {code}")
        elif word == "USER":
            stage.user = rest
        elif word == "HEALTHCHECK":
            stage.health = json.loads(rest[rest.index("CMD ") + 4 :])
        elif word == "ENTRYPOINT":
            stage.entrypoint = json.loads(rest)
        elif word == "CMD":
            stage.command = json.loads(rest)
        elif word not in ("EXPOSE", "LABEL", "STOPSIGNAL"):
            raise SystemExit(f"{word} is not known here")
    return stages[-1]


def copy(rest: str, stage: Stage, stages: dict[str, Stage]) -> None:
    """COPY, from the repository or from another stage."""
    *sources, target = [part for part in rest.split() if not part.startswith("--")]
    origin = re.search(r"--from=(\S+)", rest)
    for source in sources:
        found = stages[origin[1]].path(source) if origin else ROOT / source
        into = stage.path(target)
        if found.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True, ignore=None if origin else ignored)
        else:
            into = into / found.name if target.endswith("/") else into
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, into)


def try_out(stage: Stage) -> None:
    """Run the image's command until it is healthy, and stop it. Errors: `SystemExit`."""
    command = [*stage.entrypoint, *stage.command]
    print(f"running {shlex.join(command)} as {stage.user}", flush=True)
    started = time.monotonic()
    server = stage.run(command, start_new_session=True)
    try:
        while stage.run(stage.health, stderr=subprocess.DEVNULL).wait() != 0:
            if server.poll() is not None or time.monotonic() - started > _HEALTHY_SECONDS:
                raise SystemExit("it did not get healthy")
            time.sleep(0.5)
        print(f"healthy after {time.monotonic() - started:.1f} s", flush=True)
        server.send_signal(signal.SIGTERM)
        code = server.wait(_STOP_SECONDS)
        if code != 0:
            raise SystemExit(f"told to stop it ended with code {code}")
        print("stopped with code 0")
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def main() -> None:
    """Build and try out."""
    if os.environ.get("DOCKER_STEPS_INSIDE") is None:  # a mount namespace of its own: mounts vanish with it
        inside = os.environ | {"DOCKER_STEPS_INSIDE": "1"}
        sys.exit(subprocess.run(["unshare", "--mount", sys.executable, *sys.argv], env=inside, check=False).returncode)
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "deploy/Dockerfile"
    with tempfile.TemporaryDirectory(prefix="docker-steps-") as name:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", name], check=True)  # an overlay cannot lie on an overlay
        try:
            python = shutil.which("python3", path="/usr/local/bin:/usr/bin")  # one that every user may run
            try_out(build(file, Path(name), Path(python or sys.executable)))
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", name], check=False)


if __name__ == "__main__":
    main()
