/** What a look inside a machine finds of its report token, whatever its reporter does at that moment. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fingerprintOf } from '../../../../api/client/cli/ssh/programs.ts'
import { lookInside } from '../../../../api/client/devbox/box/inside.ts'
import type { BoxShell } from '../../../../api/client/devbox/box/shell.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const HOST_KEY = `ssh-ed25519 ${Buffer.from('one').toString('base64')}`

spec('a look inside a machine', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bottega-inside-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const state = join(folder, 'state')
  const program = (name: string, text: string) =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  t.before(() => {
    // the token is there; whether it is good the reporter finds out
    program('sudo', 'shift\nif [ "$1" = test ]; then exit 0; fi\nexec "$@"')
    program('cloud-init', "echo 'status: running'")
    program(
      'systemctl',
      `case $1 in
  is-active) cat '${state}' ;;
  is-failed) grep -q failed '${state}' ;;
  start) grep -q good '${state}' && exit 0; echo failed > '${state}'; exit 1 ;;
esac`,
    )
  })
  const shell: BoxShell = {
    scan: async () => [HOST_KEY],
    run: async (_, command, input) => {
      const [name = '', ...args] = command.split(' ')
      const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
      const { status, stdout, stderr } = spawnSync(name, args, { input, env, encoding: 'utf8' })
      return { code: status, out: stdout, err: stderr }
    },
  }
  const isGood = async (reporter: string): Promise<boolean> => {
    writeFileSync(state, `${reporter}\n`)
    return (await lookInside(shell, { publicIp: '198.51.100.1', trusted: [fingerprintOf(HOST_KEY)] })).hasToken
  }

  t('takes its token for good where the reporter has ended well, and not where it has failed', async () => {
    assert.equal([await isGood('inactive'), await isGood('failed')], [true, false])
  })
  t('waits for a reporter that is at work, for until it has ended it has not failed', async () => {
    assert.equal([await isGood('activating'), await isGood('activating good')], [false, true])
  })
})
