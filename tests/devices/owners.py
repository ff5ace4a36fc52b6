from __future__ import annotations

import secrets


def new_owner() -> str:
    """Whoever sweeps a device ends what bears the owner's name on the whole machine: no two tests share one."""
    return f"test-{secrets.token_hex(6)}"
