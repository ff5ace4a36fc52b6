"""What a browser complains of while a test clicks through pages."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, ConsoleMessage, Response

# Fires for what the policy stops without a word on the console, too.
TELL_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`));"""

# Said by htmx of a question that is still open when its page is left, or when a newer question takes its place.
LEFT = r"^htmx:(afterRequest|sendAbort|sendError), \[object HTML"


class Watch:
    """Collects errors of scripts, lines on the console, violations of the policy and answers of 500 and above."""

    def __init__(self, context: BrowserContext) -> None:
        self.complaints: list[str] = []
        self._allowed = [LEFT]
        context.add_init_script(TELL_VIOLATIONS)
        context.on("console", self._line)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("response", self._answer)

    def allow(self, *patterns: str) -> None:
        """What this test brings about on purpose."""
        self._allowed += patterns

    @property
    def unexpected(self) -> list[str]:
        return [line for line in self.complaints if not any(re.search(each, line) for each in self._allowed)]

    def _line(self, line: ConsoleMessage) -> None:
        if line.type in {"error", "warning"}:
            self.complaints.append(f"{line.text} at {line.location.get('url', '')}")

    def _answer(self, answer: Response) -> None:
        if answer.status >= 500:
            self.complaints.append(f"{answer.status} {answer.request.method} {answer.url}")
