#!/usr/bin/env bash
# The browser and the servers that the tests drive: installed when root, named when not.
set -euo pipefail

missing=()
command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
command -v adb >/dev/null || missing+=(adb)
[ -x /usr/sbin/sshd ] || missing+=(openssh-server)
[ "${#missing[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  # PostgreSQL makes and starts a cluster of its own when it is installed: the tests bring theirs.
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  # OpenSSH would start a server for everybody: the tests start theirs, on loopback.
  [ -e /etc/ssh/sshd_config ] || { mkdir -p /etc/ssh && touch /etc/ssh/sshd_not_to_be_run; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  exit 0
fi

echo "The tests that need these are not run: ${missing[*]}. Install them, or set ALLOW_SKIP=1 to go on without." >&2
[ "${ALLOW_SKIP:-}" = 1 ]
