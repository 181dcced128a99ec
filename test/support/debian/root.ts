import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensurePackages } from '../../../hack/lib/apt.ts'
import { run } from '../../../hack/lib/command.ts'
import { cacheOf } from '../../../hack/lib/files.ts'
import { withLock } from '../../../hack/lib/lock.ts'

/** A fresh Debian as a provider of machines hands it out: what debootstrap makes, with systemd and sshd. Made once, kept with the tools. */

const SUITE = 'trixie'
const INCLUDED = ['systemd', 'systemd-sysv', 'openssh-server', 'iproute2', 'ca-certificates']
const MAKING_MS = 20 * 60_000

/** The folder of a root that nobody changes. @throws Refusal where debootstrap is not to be had */
export const debianRoot = async (): Promise<string> => {
  const made = JSON.stringify([SUITE, INCLUDED])
  const digest = createHash('sha256').update(made).digest('hex').slice(0, 16)
  const root = join(cacheOf('debian'), `${SUITE}-${digest}`)
  await withLock(root, async () => {
    if (existsSync(root)) return
    ensurePackages(
      [
        { name: 'debootstrap', files: ['/usr/sbin/debootstrap'] },
        { name: 'gpg', files: ['/usr/bin/gpg'] },
        { name: 'mount', files: ['/usr/bin/mount', '/bin/mount'] },
      ],
      { what: 'A fresh Debian' },
    )
    const partial = `${root}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(dirname(partial), { recursive: true })
    run('debootstrap', ['--variant=minbase', `--include=${INCLUDED.join()}`, SUITE, partial], {
      timeoutMs: MAKING_MS,
    })
    rmSync(join(partial, 'var/cache/apt/archives'), { recursive: true, force: true })
    renameSync(partial, root)
  })
  return root
}
