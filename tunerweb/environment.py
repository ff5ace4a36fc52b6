"""Everything that the environment can say, read and checked in one place."""

from __future__ import annotations

import ipaddress
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

GIB = 2**30
# Private, shared, unique local and link-local networks, and this machine.
DEVICE_NETWORKS = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7 fe80::/10 127.0.0.0/8 ::1/128"


class Environment(BaseSettings):
    """`url` is the public address; https turns on what needs TLS. `lease_s`: how long work outlives its worker."""

    model_config = SettingsConfigDict(env_prefix="TUNERWEB_", frozen=True, extra="ignore", populate_by_name=True)

    data: Path = Path("data")
    url: str = ""
    trusted_proxies: str = ""
    workers: int | None = Field(default=None, ge=1, le=256)
    max_upload: int = Field(default=4 * GIB, ge=1)
    lease_s: float = Field(default=15.0, gt=0)
    device_networks: str = DEVICE_NETWORKS
    database_url: str = Field(default="", validation_alias="DATABASE_URL")
    redis_url: str = Field(default="", validation_alias="REDIS_URL")

    @field_validator("data")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("TUNERWEB_URL is the public address, such as https://tuner.example.org.")
        return value.rstrip("/")

    @field_validator("device_networks")
    @classmethod
    def _are_networks(cls, value: str) -> str:
        try:
            for part in value.replace(",", " ").split():
                ipaddress.ip_network(part)
        except ValueError as error:
            raise ValueError(f"TUNERWEB_DEVICE_NETWORKS holds networks such as 10.0.0.0/8: {error}.") from None
        return value

    @property
    def root(self) -> Path:
        """The folder of the project: templates and static files lie beside the packages."""
        return Path(__file__).resolve().parents[1]

    @property
    def store(self) -> Path:
        return self.data / "store"

    @property
    def incoming(self) -> Path:
        """Uploads on their way in; on one file system with the store, so that keeping one is a rename."""
        return self.data / "incoming"

    @property
    def bodies(self) -> Path:
        """Where Django spools the bodies of requests."""
        return self.data / "bodies"

    @property
    def scratch(self) -> Path:
        return self.data / "scratch"

    @property
    def broker_url(self) -> str:
        """The embedded broker's socket when no other is named."""
        return self.redis_url or f"unix://{self.data / 'broker.sock'}"

    @property
    def is_https(self) -> bool:
        return self.url.startswith("https://")

    @property
    def host(self) -> str | None:
        return urlsplit(self.url).hostname if self.url else None


@cache
def load_environment() -> Environment:
    return Environment()
