"""The web process: pages, the API and websockets."""

from __future__ import annotations

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
pages = get_asgi_application()

# These import models, which need the line above.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from sweeps.consumers import websocket_urls  # noqa: E402
from tunerweb.bodies import Application, limit_bodies  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": limit_bodies(cast(Application, pages)),
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urls))),
    }
)
