from __future__ import annotations


class CannotStart(Exception):
    """Said to the person who typed the command: what is wrong and what to do."""
