"""Django's settings, made of the environment. Nothing here needs the broker or the database to answer."""

from __future__ import annotations

import dj_database_url

from tunerweb.environment import load_environment
from tunerweb.secret import secret_key

ENVIRONMENT = load_environment()

SECRET_KEY = secret_key(ENVIRONMENT.data)
ENVIRONMENT.bodies.mkdir(parents=True, exist_ok=True)
DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *([ENVIRONMENT.host] if ENVIRONMENT.host else [])]
CSRF_TRUSTED_ORIGINS = [ENVIRONMENT.url] if ENVIRONMENT.url else []

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "django_filters",
    "django_htmx",
    "django_rq",
    "ninja",
    "template_partials",
    "tunerweb.accounts",
    "tunerweb.work",
    "devices",
    "sweeps",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "tunerweb.middleware.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "tunerweb.accounts.middleware.sign_in_required",
]

ROOT_URLCONF = "tunerweb.urls"
ASGI_APPLICATION = "tunerweb.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ENVIRONMENT.root / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# Immediate transactions: a reader that becomes a writer in the middle would meet "database is locked".
SQLITE = "django.db.backends.sqlite3"
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


def _database() -> dict[str, object]:
    if not ENVIRONMENT.database_url:
        # Not by a URL: a folder may be called anything.
        return {"ENGINE": SQLITE, "NAME": ENVIRONMENT.data / "tunerweb.sqlite3", "OPTIONS": SQLITE_OPTIONS}
    database: dict[str, object] = dict(dj_database_url.parse(ENVIRONMENT.database_url))
    if database["ENGINE"] == SQLITE:
        database["OPTIONS"] = SQLITE_OPTIONS
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "sweeps:overview"
LOGOUT_REDIRECT_URL = "accounts:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [ENVIRONMENT.root / "static"]
WHITENOISE_USE_FINDERS = True

# A piece of an upload is read in pieces by its view; everything else is a form.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
# Bodies are spooled beside the uploads, not to a temporary disk that may be small.
FILE_UPLOAD_TEMP_DIR = ENVIRONMENT.bodies

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [ENVIRONMENT.broker_url], "prefix": "tunerweb"},
    }
}

RQ_QUEUES = {
    name: {"URL": ENVIRONMENT.broker_url, "SERIALIZER": "rq.serializers.JSONSerializer"}
    for name in ("compile", "light", "device")
}
# What a hint on each queue calls. A worker runs nothing else.
WORK_QUEUES = {
    "compile": "sweeps.jobs.work_on_compiles",
    "light": "sweeps.jobs.work_on_inspections",
    "device": "sweeps.jobs.work_on_a_device",
}
# Name the queues on which a claim would find something.
WORK_WAITING = [
    "sweeps.claiming.waiting_queues",
    "sweeps.claiming.waiting_device_queues",
    "devices.queues.queues_with_checks",
]
# Names the queues that come and go, each with a worker of its own.
CREW_QUEUES = "devices.queues.all_queues"
WORKER_STARTUP = {"compile": "sweeps.jobs.register_toolchain"}
RECONCILER_STEPS = [
    "sweeps.rescuing.reconcile",
    "devices.lifecycle.reconcile",
    "sweeps.uploads.reconcile",
    "tunerweb.accounts.cleaning.reconcile",
]
TOOLCHAIN = "sweeps.toolchain.qnn.compiler.BundledToolchain"
LEASE_S = ENVIRONMENT.lease_s

CSRF_FAILURE_VIEW = "tunerweb.errors.stale_form"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.is_https
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 31_536_000 if ENVIRONMENT.is_https else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if ENVIRONMENT.trusted_proxies:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "resumable_upload": {"level": "WARNING"},
        "rq": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
