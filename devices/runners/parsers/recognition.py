"""A file that is said to be a profile, and what it is by its content. What cannot be read is named, never guessed."""

from __future__ import annotations

import re

from devices.runners.parsers.profile import NotAProfile, Profile
from devices.runners.parsers.profile_csv import has_header, parse_profile_csv
from devices.runners.parsers.viewer_json import parse_viewer_json

WANTED = (
    "The CSV of ONNX Runtime's QNN provider (profiling_file_path), or the CSV or JSON that qnn-profile-viewer makes of "
    "qnn-profiling-data_0.log, is expected."
)
HEAD_LINES = 50
APP_LOG = re.compile(r"\[(?:ROOT|SUB-EVENT)\]\s*\[[^\]]+\]\s*BACKEND\s*:\s*\d+\s*\w+")
TEXT_OF_VIEWER = re.compile(r"^Execute Stats \(Average\):", re.MULTILINE)


def parse_profile(content: bytes) -> Profile:
    """Raises `NotAProfile`, which says what the file is and which one is expected."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotAProfile(f"This file is binary. {WANTED}") from None
    if "\0" in text:
        raise NotAProfile(f"This file is binary. {WANTED}")
    if not text.strip():
        raise NotAProfile(f"The file is empty: a run that failed leaves such a one. {WANTED}")
    return _parse_text(text)


def _parse_text(text: str) -> Profile:
    if any(has_header(line) for line in text.splitlines()[:HEAD_LINES]):
        return parse_profile_csv(text)
    if text.lstrip().startswith("{"):
        if '"htp_overall_summary"' in text:
            raise NotAProfile(f"This is a QHAS summary of one traced inference, which is no repeated run. {WANTED}")
        return parse_viewer_json(text)
    if TEXT_OF_VIEWER.search(text):
        raise NotAProfile(f"This is the text of qnn-profile-viewer, which has averages only. {WANTED}")
    if APP_LOG.search(text):
        raise NotAProfile(f"These are lines of an application's log, which name no inference. {WANTED}")
    raise NotAProfile(f"This is no profile. {WANTED}")
