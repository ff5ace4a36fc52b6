"""Tunerweb's own processes, and `tunerweb up` as one call."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from tunerweb.environment import Environment
from tunerweb.supervisor import broker, listening
from tunerweb.supervisor.children import ROOT
from tunerweb.supervisor.data_folder import LOGS, held
from tunerweb.supervisor.specs import ProcessSpec
from tunerweb.supervisor.supervisor import Plan, Supervisor

GRACEFUL_WEB_S = 3
# Compiles fill every core; the pages still come first.
WORKER_NICE = 5


Say = Callable[[str], None]
Then = Callable[["Stack"], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Address:
    host: str
    port: int


class Stack:
    """`tunerweb up` while it runs. `then`, if given, is awaited once the web server answers."""

    def __init__(self, environment: Environment, address: Address, listener: socket.socket, say: Say) -> None:
        self.environment = environment
        self.address = address
        self.say = say
        self.local = listening.reachable(listener)
        self.url = listening.url_of(*self.local)
        self.env = child_environment(environment, address.host, self.url)
        plan = make_plan(environment, self.env, listener.fileno())
        self.supervisor = Supervisor(plan, environment.data / LOGS, say, stopping=listener.close)

    @property
    def public_url(self) -> str:
        return self.environment.url or self.url

    async def run(self, then: Then | None) -> int:
        async def started(setup_path: str) -> None:
            await listening.healthy(*self.local)
            self.say(f"Tunerweb is at {self.url}/")
            for line in self._notes(setup_path):
                self.say(line)
            if then:
                await then(self)

        return await self.supervisor.run(started)

    def _notes(self, setup_path: str) -> list[str]:
        lines = []
        if setup_path:
            lines.append(f"Nobody has an account yet. Make the first one here, once: {self.public_url}{setup_path}")
        if listening.is_open_to_others(self.address.host) and not self.environment.url:
            lines.append("Other machines are refused until TUNERWEB_URL says under which address they come here.")
        return lines

    async def run_once(self, name: str, module: str, *arguments: str, failure: str) -> str:
        """A module in a child of its own; what it printed. Raises `CannotStart` when it failed."""
        return await self.supervisor.run_once(ProcessSpec(name, python(module, *arguments), self.env, failure=failure))

    def stop(self) -> None:
        self.supervisor.requests.stop.set()


def run_stack(environment: Environment, address: Address, say: Say, then: Then | None = None) -> int:
    """Everything, until a signal asks to stop. Raises `CannotStart`."""
    os.umask(0o077)
    with listening.listen_on(address.host, address.port) as listener, held(environment.data):
        if environment.redis_url:
            broker.require_answer(environment.redis_url)
        socket_path = broker.socket_path(environment.data)
        try:
            code = asyncio.run(_run(environment, address, listener, say, then))
        finally:
            broker.remove_socket(environment.data, socket_path)
    say("Stopped.")
    return code


async def _run(environment: Environment, address: Address, listener: socket.socket, say: Say, then: Then | None) -> int:
    return await Stack(environment, address, listener, say).run(then)


def child_environment(environment: Environment, host: str, local_url: str) -> dict[str, str]:
    url = environment.url
    if not url and not listening.is_local(host) and not listening.is_open_to_others(host):
        url = local_url
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tunerweb.settings",
        "PYTHONUNBUFFERED": "1",
        "TUNERWEB_DATA": str(environment.data),
        "TUNERWEB_URL": url,
        "TUNERWEB_WORKERS": str(worker_count(environment)),
        "REDIS_URL": environment.redis_url or broker.broker_url(broker.socket_path(environment.data)),
    }


def make_plan(environment: Environment, env: Mapping[str, str], listener: int) -> Plan:
    workers = [worker(f"compile-{number}", "compile", env) for number in range(1, worker_count(environment) + 1)]
    workers.append(worker("light", "light", env))
    crew = ProcessSpec("devices", python("tunerweb.work.crew"), env, nice=WORKER_NICE)
    web = ProcessSpec("web", web_command(environment, listener), env, (listener,), (GRACEFUL_WEB_S + 2.0,))
    reconciler = ProcessSpec("reconciler", python("tunerweb.work.reconciler"), env, patience_s=(3.0,))
    socket_path = broker.socket_path(environment.data)
    embedded = ProcessSpec("broker", broker.broker_command(socket_path), env, patience_s=(3.0,))
    return Plan(
        broker=None if environment.redis_url else embedded,
        socket=socket_path,
        prepare=ProcessSpec("prepare", python("tunerweb.prepare"), env, failure="The database cannot be prepared"),
        stages=((web,), (*workers, crew), (reconciler,)),
        need_broker=frozenset(spec.name for spec in workers),
    )


def worker_count(environment: Environment) -> int:
    return environment.workers or len(os.sched_getaffinity(0))


def worker(name: str, queue: str, env: Mapping[str, str]) -> ProcessSpec:
    return ProcessSpec(name, python("tunerweb.work.worker", "--queue", queue, "--name", name), env, nice=WORKER_NICE)


def web_command(environment: Environment, listener: int) -> tuple[str, ...]:
    proxies = environment.trusted_proxies
    return python(
        *("uvicorn", "tunerweb.asgi:application", "--fd", str(listener), "--app-dir", str(ROOT)),
        *("--lifespan", "off", "--timeout-graceful-shutdown", str(GRACEFUL_WEB_S)),
        *("--no-access-log", "--no-server-header"),
        *(("--forwarded-allow-ips", proxies) if proxies else ("--no-proxy-headers",)),
    )


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """-P: a file in the current folder never takes the place of a module."""
    return (sys.executable, "-P", "-m", module, *arguments)
