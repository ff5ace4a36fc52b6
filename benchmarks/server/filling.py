"""Fill a server's database with finished sweeps of recorded results: python -m benchmarks.server.filling DATA TRIALS

Prints a session, then a name and a path for each page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.server.running import set_up_django


def main() -> None:
    set_up_django(Path(sys.argv[1]))
    from django.urls import reverse

    from benchmarks.server.browser import session_of
    from benchmarks.server.people import newcomer
    from tests.sweeps.stored import stored_sweep

    user = newcomer()
    trials = 0
    while trials < int(sys.argv[2]):
        sweep = stored_sweep(user, name=f"sweep after {trials} trials")
        trials += sweep.trials.count()
    print(session_of(user))
    for name in ("overview", "sweep_list", "model_list", "config_list", "launch", "target_list"):
        print(name, reverse(f"sweeps:{name}"))
    print("sweep", sweep.get_absolute_url())
    print("model", reverse("sweeps:model", args=[sweep.source_model.public_id]))


if __name__ == "__main__":
    main()
