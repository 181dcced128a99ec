import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../../../hack/lib/command.ts'

/**
 * A repository of packages as Caddy's own is: one suite, signed by a key of its own. Its package is laid out as the real one
 * (binary, unit, Caddyfile, user), around the Caddy that is built here.
 */
export type Repository = { fingerprint: string }

const CONTROL = (version: string) => `Package: caddy
Version: ${version}
Architecture: amd64
Maintainer: Bottega <test@bottega.test>
Conflicts: nginx-none
Description: Caddy, built for the tests
`

const UNIT = `[Unit]
Description=Caddy
After=network.target

[Service]
Type=notify
User=caddy
Group=caddy
ExecStart=/usr/bin/caddy run --environ --config /etc/caddy/Caddyfile
ExecReload=/usr/bin/caddy reload --config /etc/caddy/Caddyfile --force
TimeoutStopSec=5s
LimitNOFILE=1048576
PrivateTmp=true
ProtectSystem=full
AmbientCapabilities=CAP_NET_ADMIN CAP_NET_BIND_SERVICE

[Install]
WantedBy=multi-user.target
`

const POSTINST = `#!/bin/sh
set -e
getent group caddy >/dev/null || groupadd --system caddy
getent passwd caddy >/dev/null ||
  useradd --system --gid caddy --create-home --home-dir /var/lib/caddy --shell /usr/sbin/nologin caddy
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable --now caddy
fi
`

const put = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
}

const packCaddy = (folder: string, binary: string, deb: string): void => {
  const version = run(binary, ['version']).replace(/^v/, '').split(' ')[0]?.trim() ?? ''
  put(join(folder, 'DEBIAN', 'control'), CONTROL(version))
  put(join(folder, 'DEBIAN', 'conffiles'), '/etc/caddy/Caddyfile\n')
  put(join(folder, 'DEBIAN', 'postinst'), POSTINST, 0o755)
  put(join(folder, 'lib/systemd/system/caddy.service'), UNIT)
  put(join(folder, 'etc/caddy/Caddyfile'), ':80 {\n  respond "Caddy works."\n}\n')
  mkdirSync(join(folder, 'usr/bin'), { recursive: true })
  copyFileSync(binary, join(folder, 'usr/bin/caddy'))
  chmodSync(join(folder, 'usr/bin/caddy'), 0o755)
  mkdirSync(dirname(deb), { recursive: true })
  run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', folder, deb], { timeoutMs: 120_000 })
}

const sumOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const makeKey = (home: string, name: string): string => {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const gpg = (...args: string[]) => run('gpg', ['--homedir', home, '--batch', '--passphrase', '', ...args])
  gpg('--quick-generate-key', name, 'rsa2048', 'sign', 'never')
  return /^fpr:+([0-9A-F]{40}):/m.exec(gpg('--list-keys', '--with-colons'))?.[1] ?? ''
}

/** Writes it into `folder`, and its key into `gpg.key` there. @param work a folder for what goes into it */
export const makeRepository = (folder: string, { work, caddy }: { work: string; caddy: string }): Repository => {
  const deb = join(folder, 'pool', 'caddy.deb')
  packCaddy(join(work, 'caddy'), caddy, deb)
  const fields = run('dpkg-deb', ['--field', deb]).trimEnd()
  const entry = `${fields}\nFilename: pool/caddy.deb\nSize: ${statSync(deb).size}\nSHA256: ${sumOf(deb)}\n\n`
  const suite = join(folder, 'dists', 'any-version')
  const list = join(suite, 'main', 'binary-amd64', 'Packages')
  put(list, entry)
  const release = [
    'Suite: any-version',
    'Codename: any-version',
    'Components: main',
    'Architectures: amd64',
    `Date: ${new Date().toUTCString()}`,
    'SHA256:',
    ` ${sumOf(list)} ${statSync(list).size} main/binary-amd64/Packages`,
  ]
  put(join(suite, 'Release'), `${release.join('\n')}\n`)
  const home = join(work, 'gpg')
  const fingerprint = makeKey(home, 'Caddy for tests')
  const gpg = (...args: string[]) => run('gpg', ['--homedir', home, '--batch', '--yes', ...args])
  gpg('--clearsign', '--output', join(suite, 'InRelease'), join(suite, 'Release'))
  gpg('--armor', '--output', join(folder, 'gpg.key'), '--export', fingerprint)
  // It would outlive us.
  run('gpgconf', ['--homedir', home, '--kill', 'all'])
  return { fingerprint }
}
