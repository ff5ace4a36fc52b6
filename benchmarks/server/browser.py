"""From the end of a compile to the changed row in a browser, and the first paint of pages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.server.people import graph_names_of, launch, newcomer, source_of, wait_until_finished
from benchmarks.server.running import Server
from benchmarks.server.spreads import spread

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
# Notes when each row first says that it is done.
OBSERVER = """
window.doneAt = {};
const look = () => document.querySelectorAll('tr[data-trial]').forEach(row => {
  const trial = row.dataset.trial;
  if (/\\bdone\\b/.test(row.textContent) && !(trial in window.doneAt)) window.doneAt[trial] = Date.now();
});
document.addEventListener('DOMContentLoaded', () => {
  look();
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
});
"""
FIRST_PAINT = """() => new Promise(found => new PerformanceObserver(list => {
  const paint = list.getEntriesByName('first-contentful-paint')[0];
  if (paint) found(paint.startTime);
}).observe({type: 'paint', buffered: true}))"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def signed_in(browser: Browser, server: Server, user: object) -> Page:
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.context.add_cookies([{"name": "sessionid", "value": session_of(user), "url": server.url}])
    return page


def session_of(user: object) -> str:
    """A session as signing in makes it."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)  # type: ignore[attr-defined]
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()  # type: ignore[attr-defined]
    session.create()
    return str(session.session_key)


def finished_to_row(server: Server, browser: Browser, model: Path, soc: str, workers: int) -> None:
    user = newcomer()
    source = source_of(user, model, graph_names_of(model, soc))
    page = signed_in(browser, server, user)
    page.add_init_script(OBSERVER)
    with ThreadPoolExecutor(1) as elsewhere:  # where Playwright's event loop does not run
        sweep = elsewhere.submit(launch, user, source, soc, workers).result()
    page.goto(server.url + sweep.get_absolute_url())
    opened_ms: float = page.evaluate("Date.now()")
    wait_until_finished(sweep)
    page.wait_for_timeout(2000)
    seen: dict[str, float] = page.evaluate("window.doneAt")
    delays_ms = [
        seen[trial.public_id] - _ms(trial.compilation.finished_at)
        for trial in sweep.trials.with_work()
        if trial.public_id in seen and _ms(trial.compilation.finished_at) > opened_ms
    ]
    missing = sweep.trials.count() - len(seen)
    print(f"  finished to browser row: {spread(delays_ms, 0.95)} ({len(delays_ms)} rows, {missing} not seen)")
    page.context.close()


def _ms(moment: datetime) -> float:
    return moment.timestamp() * 1000


def first_paint_ms(page: Page, url: str) -> float:
    page.goto(url, wait_until="load")
    return float(page.evaluate(FIRST_PAINT))
