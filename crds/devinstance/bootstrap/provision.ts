/** The shell scripts that a bootstrap writes to the dev instance. Nothing in them is secret: whoever is on the dev instance can read them. */
import type { AgentId, Archive } from './agents.ts'
import { READ_ENV } from './handed.ts'
import { BAKED, DEV_USER, PREFIX } from './places.ts'
import { ENABLED } from './units.ts'

/** `it's` → `'it'\''s'`. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Installs archives by their digests. Run again it installs the same; it ends at the first that is not what was pinned. What the
 * image of the machine has of the same digest is there already: a warm start (bakeScript).
 */
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
  # baked: told by its digest, which whoever made the image has held against the archive
  if [ -d "$prefix/$3" ] && grep -qxF "$1 $3" "$prefix/installed" 2>/dev/null; then return; fi
  curl -fsSL --retry 5 --retry-all-errors --max-time 900 -o "$work/archive" "$packages/$2"
  echo "$1  $work/archive" | sha512sum --check --quiet --strict -
  rm -rf "\${prefix:?}/$3"
  mkdir -p "$prefix/$3"
  tar -xzf "$work/archive" -C "$prefix/$3" --strip-components=1 --no-same-owner
  chmod -R u+rwX,go+rX,go-w "$prefix/$3"
  { grep -v " $3$" "$prefix/installed" 2>/dev/null || :; echo "$1 $3"; } > "$work/installed"
  mv "$work/installed" "$prefix/installed"
}

${archives.map(({ path, sha512, folder }) => `take ${sha512} ${path} ${folder}`).join('\n')}
`

/**
 * Makes a machine an image for others: what was installed stays and is told by one digest, what is of this machine alone goes, and it
 * turns off. It is done to a fresh one, for work that is on it would be in every machine of the image; and whoever tried it may have
 * logged in somewhere, so nothing of the home goes along. A machine-id that is empty is made anew; were it
 * "uninitialized", as cloud-init would have it, systemd would enable at the next start whatever its presets say besides.
 */
export const bakeScript = (): string => `#!/bin/sh
# Makes this machine an image: nothing that is its own stays, and it turns off.
set -eu
umask 022
root=\${ROOT:-}
prefix=$root${PREFIX}
home=$root/home/${DEV_USER}
pushed=$(find "$home/repo/.git/refs/heads" -type f 2>/dev/null | head -n 1)
if [ -n "$pushed$(find "$home" -path "$home/repo/.git" -prune -o -path "$home/.*" -prune -o -type f -print | head -n 1)" ]; then
  echo "there is work in $home, which would be on every machine of the image" >&2
  exit 1
fi
cut -d' ' -f2 "$prefix/installed" | sort > "$prefix/baking"
baked=$(cd "$prefix" && while read -r part; do find "$part" -type f -print0; done < baking | LC_ALL=C sort -z | xargs -0r sha256sum -- | sha256sum)
rm -f "$prefix/baking" "$root"/etc/ssh/ssh_host_*
rm -rf "$root/etc/bottega" "$root/var/lib/bottega"
find "$home" -mindepth 1 -delete
cp -a "$root/etc/skel/." "$home" 2>/dev/null || :
chown -R --reference="$home" "$home"
mkdir -p "$root/etc/bottega"
echo "\${baked%% *}" > "$root${BAKED}"
cloud-init clean --logs
: > "$root/etc/machine-id"
systemctl --no-block poweroff
`

/**
 * Runs an agent inside the capped slice, so that a leak ends the agent and not the dev instance. Its scope bears its name and
 * process (systemd-run becomes the program), which is how a turn, or an end by the kernel, is known to be its own.
 */
export const launchScript = (): string => `#!/bin/sh
export DISABLE_AUTOUPDATER=1
export XDG_RUNTIME_DIR="\${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
${READ_ENV}name=$1
shift
exec systemd-run --user --scope --quiet --collect --slice=agents.slice --unit="$name-$$" -- "$@"
`

/** The command of one agent. @param program below the prefix */
export const commandScript = (id: AgentId, program: readonly string[]): string => `#!/bin/sh
exec ${PREFIX}/bin/launch ${[id, ...program.map((part) => `${PREFIX}/${part}`)].join(' ')} "$@"
`

export type Remote = { url: string; branch: string }

/**
 * Makes the work tree that people push to: a push to the branch that is checked out updates the files. What was pushed here is
 * somewhere else too: it is noted as such, or a machine that only ever received would count it as its own work.
 */
export const remoteScript = (remote: Remote | undefined): string => {
  const origin = remote ? `git -C "$repo" remote add origin ${quoted(remote.url)}\n` : ''
  return `#!/bin/sh
set -eu
repo=$HOME/repo
if [ -e "$repo/.git" ]; then exit 0; fi
git init --quiet --initial-branch=${quoted(remote?.branch ?? 'main')} "$repo"
git -C "$repo" config receive.denyCurrentBranch updateInstead
cat > "$repo/.git/hooks/post-receive" << 'END'
#!/bin/sh
while read -r _ new ref; do
  case $new:$ref in *[!0]*:refs/heads/*) git update-ref "refs/remotes/pushed/\${ref#refs/heads/}" "$new" ;; esac
done
END
chmod 755 "$repo/.git/hooks/post-receive"
${origin}`
}

/**
 * What cloud-init runs, once: it fails as a whole when a step of it fails, and cloud-init's status says so. In a baked image the user
 * is there already, so cloud-init makes no home for it, and where that is a disk of its own there is none.
 */
export const provisionScript = (): string => `#!/bin/sh
set -eu
${PREFIX}/bin/install
ln -sf ${PREFIX}/node/bin/node /usr/local/bin/node
for program in npm npx; do
  ln -sf "${PREFIX}/node/lib/node_modules/npm/bin/$program-cli.js" "/usr/local/bin/$program"
done
loginctl enable-linger ${DEV_USER}
if [ ! -e /home/${DEV_USER}/.profile ]; then
  install -d -m 700 -o ${DEV_USER} -g ${DEV_USER} /home/${DEV_USER}
  runuser -u ${DEV_USER} -- cp -r /etc/skel/. /home/${DEV_USER}
fi
install -d -m 700 -o ${DEV_USER} -g ${DEV_USER} /home/${DEV_USER}/.ssh
runuser -l ${DEV_USER} -c ${PREFIX}/bin/make-remote
mkdir -p /run/sshd
sshd -t
systemctl try-reload-or-restart ssh.service
systemctl daemon-reload
systemctl enable --now ${ENABLED.join(' ')}
`
