/** The shell scripts that a bootstrap writes to the dev instance. Nothing in them is secret: whoever is on the dev instance can read them. */
import type { Archive } from './agents.ts'
import { DEV_USER } from './sshd.ts'

/** All that is installed lies here, owned by root, so that no agent can update itself. */
export const PREFIX = '/opt/bottega'

/** `it's` → `'it'\''s'`. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Installs archives by their digests. Run again it installs the same; it ends at the first that is not what was pinned. */
export const installScript = (archives: readonly Archive[]): string => `#!/bin/sh
# Installs what is pinned, and nothing else.
set -eu
umask 022
prefix=\${PREFIX:-${PREFIX}}
packages=\${PACKAGES_URL:-https://registry.npmjs.org}
mkdir -p "$prefix"
work=$(mktemp -d "$prefix/.install.XXXXXX")
trap 'rm -rf "$work"' EXIT

take() {
  curl -fsSL --retry 5 --retry-all-errors --max-time 900 -o "$work/archive" "$packages/$2"
  echo "$1  $work/archive" | sha512sum --check --quiet --strict -
  rm -rf "\${prefix:?}/$3"
  mkdir -p "$prefix/$3"
  tar -xzf "$work/archive" -C "$prefix/$3" --strip-components=1 --no-same-owner
  chmod -R u+rwX,go+rX,go-w "$prefix/$3"
}

${archives.map(({ path, sha512, folder }) => `take ${sha512} ${path} ${folder}`).join('\n')}
`

/** Runs an agent inside the capped slice, so that a leak ends the agent and not the dev instance. */
export const launchScript = (): string => `#!/bin/sh
export DISABLE_AUTOUPDATER=1
export XDG_RUNTIME_DIR="\${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
exec systemd-run --user --scope --quiet --collect --slice=agents.slice -- "$@"
`

/** The command of one agent. @param program below the prefix */
export const commandScript = (program: readonly string[]): string => `#!/bin/sh
exec ${PREFIX}/bin/launch ${program.map((part) => `${PREFIX}/${part}`).join(' ')} "$@"
`

export type Remote = { url: string; branch: string }

/** Makes the work tree that people push to: a push to the branch that is checked out updates the files. */
export const remoteScript = (remote: Remote | undefined): string => {
  const origin = remote ? `git -C "$repo" remote add origin ${quoted(remote.url)}\n` : ''
  return `#!/bin/sh
set -eu
repo=$HOME/repo
if [ -e "$repo/.git" ]; then exit 0; fi
git init --quiet --initial-branch=${quoted(remote?.branch ?? 'main')} "$repo"
git -C "$repo" config receive.denyCurrentBranch updateInstead
${origin}`
}

/** What cloud-init runs, once: it fails as a whole when a step of it fails, and cloud-init's status says so. */
export const provisionScript = (): string => `#!/bin/sh
set -eu
${PREFIX}/bin/install
ln -sf ${PREFIX}/node/bin/node /usr/local/bin/node
for program in npm npx; do
  ln -sf "${PREFIX}/node/lib/node_modules/npm/bin/$program-cli.js" "/usr/local/bin/$program"
done
loginctl enable-linger ${DEV_USER}
runuser -l ${DEV_USER} -c ${PREFIX}/bin/make-remote
mkdir -p /run/sshd
sshd -t
systemctl try-reload-or-restart ssh.service
`
