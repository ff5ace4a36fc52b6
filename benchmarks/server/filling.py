"""Fill a server's database with finished sweeps of recorded results: python -m benchmarks.server.filling DATA TRIALS

Pages show as much of few trials as of many: so many models, configs and sweeps as fit on a page at the least. Prints a
session, then a name and a path for each page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.server.running import set_up_django

ONE_PAGE = 25


def main() -> None:
    set_up_django(Path(sys.argv[1]))
    from django.urls import reverse

    from benchmarks.server.browser import session_of
    from benchmarks.server.people import newcomer
    from tests.sweeps.stored import sample, stored_config, stored_model, stored_sweep

    user, wanted = newcomer(), int(sys.argv[2])
    models = [stored_model(user, f"model {number}", f"{number:064x}") for number in range(ONE_PAGE)]
    configs = [stored_config(user, f"config {number}") for number in range(ONE_PAGE)]
    each = min(len(sample()["points"]), wanted // ONE_PAGE)
    for number in range(wanted // each):
        model, config = models[number % ONE_PAGE], configs[number % ONE_PAGE]
        sweep = stored_sweep(user, name=f"sweep {number}", source_model=model, config_version=config, most_trials=each)
    print(session_of(user))
    for name in ("overview", "sweep_list", "model_list", "config_list", "launch", "target_list"):
        print(name, reverse(f"sweeps:{name}"))
    print("sweep", sweep.get_absolute_url())
    print("model", reverse("sweeps:model", args=[sweep.source_model.public_id]))


if __name__ == "__main__":
    main()
