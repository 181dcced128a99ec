/**
 * What is handed to a dev instance after it was launched, each by a program that reads it from its input: the report token by the
 * provisioner, the environment by its owner. Neither is in the user data, on a command line, or in a log.
 * Source: rules/devinstance.md#handed-over.
 */
import { HELD_ENV } from './unseal.ts'

/** Where the environment lies below the runtime folder of the user, which is memory: a stop forgets it. */
export const ENV_FILE = 'bottega.env'

/** Reads the environment into a shell: what was brought, or was handed over before anything could be. */
export const READ_ENV = `if [ -O "\${XDG_RUNTIME_DIR:-}/${ENV_FILE}" ]; then . "$XDG_RUNTIME_DIR/${ENV_FILE}"; fi
if [ -O "\${ROOT:-}${HELD_ENV}" ]; then . "\${ROOT:-}${HELD_ENV}"; fi
`

/**
 * Takes a report token from its input, in place of the one before: `sudo token https://bottega.example < token`. It attests at once: a
 * machine that was ready before its token came would do so an hour later.
 */
export const tokenScript = (): string => `#!/bin/sh
# Takes the report token from its input; the argument is the address of the service.
set -eu
root=\${ROOT:-}
umask 077
read -r token
case $token in dbr_?*_?*) ;; *) echo 'a report token is dbr_<id>_<secret>' >&2; exit 2 ;; esac
case \${1:-} in https://?* | http://127.0.0.1:* | http://localhost:*) ;; *) echo 'token https://<service>' >&2; exit 2 ;; esac
mkdir -p -m 755 "$root/etc/bottega"
printf '%s\\n' "$token" > "$root/etc/bottega/token.new"
(umask 022 && printf '%s\\n' "\${1%/}" > "$root/etc/bottega/url")
mv "$root/etc/bottega/token.new" "$root/etc/bottega/token"
systemctl start bottega-stopping.service
systemctl start --no-block bottega-attest.service bottega-report.service
`

/** Takes `{"env": {NAME: value}}` from its input, which is what reveal answers its owner, and keeps it in memory. */
export const envScript = (): string => `#!/bin/sh
# Takes {"env":{...}} from its input and keeps it in memory, for logins and agents.
set -eu
umask 077
file=\${ROOT:-}${HELD_ENV}
if [ ! -w "\${file%/*}" ]; then file=\${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/${ENV_FILE}; fi
python3 -c '
import json, re, shlex, sys
for name, value in json.load(sys.stdin)["env"].items():
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        sys.exit("no name of a variable: " + name)
    print("export " + name + "=" + shlex.quote(value))
' > "$file.new"
mv "$file.new" "$file"
`

/** Gives a login the environment that was handed over. */
export const profileScript = (): string => `${READ_ENV}if [ -O "\${ROOT:-}${HELD_ENV}.fetched" ]; then
  echo 'The environment was brought to this machine before it started anew, and is brought once: bottega devbox env send' >&2
fi
`
