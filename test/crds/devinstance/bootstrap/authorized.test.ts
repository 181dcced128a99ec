/** Who may log in to a dev instance, under sh: what the answer to a report says becomes lines of authorized_keys. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AuthorizedAnswer,
  type AuthorizedKey,
  authorizedAnswer,
  authorizedLines,
  linesDigest,
} from '../../../../crds/devinstance/bootstrap/authorized.ts'
import { heldOf } from '../../../../crds/devinstance/bootstrap/report.ts'
import { reporterScript } from '../../../../crds/devinstance/bootstrap/reporter.ts'
import { type Machine, madeMachine, startService } from '../../../support/builders/machine.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const T0 = 1_795_000_000
const PATH = '/home/dev/.ssh/authorized_keys'
const LAUNCH = 'ssh-rsa AAAAB3NzaC1yc2E= key of the launch\n'
const keyOf = (account: string, n: number): AuthorizedKey => ({
  account,
  name: `laptop "${n}"`,
  line: `ssh-ed25519 ${Buffer.from(`key ${n} of ${account}`).toString('base64')}`,
  fingerprint: `SHA256:${account}-${n}`,
})

spec('the lines of who may log in', (t) => {
  t('name each account, and hold a key once', () => {
    const [mine, hers] = [keyOf('boxer', 1), keyOf('mate', 1)]
    const lines = authorizedLines([mine, hers, { ...mine, account: 'mate' }, { ...keyOf('x', 2), account: 'a b\nc' }])
    assert.is(lines, `${mine.line} bottega:boxer\n${hers.line} bottega:mate\n${keyOf('x', 2).line} bottega:a_b_c\n`)
  })
  t('are sent where the machine has others', () => {
    const keys = [keyOf('boxer', 1)]
    const sha256 = linesDigest(authorizedLines(keys))
    const file = Buffer.from(authorizedLines(keys)).toString('base64')
    assert.equal(authorizedAnswer(keys, linesDigest('')), { sha256, file })
    assert.equal(authorizedAnswer(keys, sha256), { sha256 })
    assert.equal(authorizedAnswer([], sha256), { sha256: linesDigest(''), file: '' })
  })
})

spec('authorized_keys of a dev instance', (t) => {
  let folder: string
  let service: Awaited<ReturnType<typeof startService>>
  let machine: Machine
  let count = 0
  let keys: AuthorizedKey[] = []
  t.before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-authorized-'))
    service = await startService()
  })
  t.after(() => {
    service.close()
    rmSync(folder, { recursive: true, force: true })
  })
  t.before.each(() => {
    count += 1
    machine = madeMachine(join(folder, String(count)))
    machine.put('/etc/bottega/token', 'dbr_dev-october_secretsecret\n')
    machine.put('/etc/bottega/url', `${service.url}\n`)
    service.status = 200
    service.more = (body) => ({ authorizedKeys: authorizedAnswer(keys, heldOf(body).keysSha256 ?? '') })
    keys = []
  })
  const report = async (minute: number, args: string[] = []) => {
    const ran = await machine.run(reporterScript([]), { now: T0 + minute * 60, args })
    assert.is(ran.code, 0)
    return { ...ran, held: heldOf(service.told.at(-1)?.body ?? {}).keysSha256 }
  }
  const modeOf = (path: string) => statSync(machine.at(path)).mode & 0o777

  t('has a key after one report, beside those that were there, and says so with the next', async () => {
    machine.put(PATH, LAUNCH)
    keys = [keyOf('boxer', 1), keyOf('mate', 1)]
    assert.is((await report(0)).held, linesDigest(''))
    assert.is(machine.read(PATH), LAUNCH + authorizedLines(keys))
    assert.equal([modeOf(PATH), existsSync(machine.at(`${PATH}.new`))], [0o600, false])
    assert.is((await report(1)).held, linesDigest(authorizedLines(keys)))
    assert.is(machine.read(PATH), LAUNCH + authorizedLines(keys))
  })
  t('has a key that was revoked no more after the next report, and all else still', async () => {
    machine.put(PATH, LAUNCH)
    keys = [keyOf('boxer', 1), keyOf('boxer', 2)]
    await report(0)
    machine.put(PATH, `${machine.read(PATH)}ssh-ed25519 AAAA added by hand`)
    keys = [keyOf('boxer', 2)]
    await report(1)
    assert.is(machine.read(PATH), `${LAUNCH}ssh-ed25519 AAAA added by hand\n${authorizedLines(keys)}`)
    keys = []
    await report(2)
    assert.is(machine.read(PATH), `${LAUNCH}ssh-ed25519 AAAA added by hand\n`)
  })
  t('is made where there was none', async () => {
    keys = [keyOf('boxer', 1)]
    await report(0)
    assert.is(machine.read(PATH), authorizedLines(keys))
    assert.equal([modeOf('/home/dev/.ssh'), modeOf(PATH)], [0o700, 0o600])
  })
  t('is mended where a line of ours was altered by hand', async () => {
    keys = [keyOf('boxer', 1)]
    await report(0)
    machine.put(PATH, `from="10.0.0.1" ${machine.read(PATH)}`)
    await report(1)
    assert.is(machine.read(PATH), authorizedLines(keys))
  })
  const encoded = (text: string): AuthorizedAnswer => ({
    sha256: linesDigest(text),
    file: Buffer.from(text).toString('base64'),
  })
  for (const [what, answer] of [
    ['with another digest', { ...encoded(authorizedLines([keyOf('boxer', 1)])), sha256: '0'.repeat(64) }],
    ['with a command', encoded('command="id" ssh-ed25519 AAAA bottega:boxer\n')],
    ['that it could not take away again', encoded('ssh-ed25519 AAAA boxer\n')],
    ['that is cut off', encoded('ssh-ed25519 AAAA bottega:boxer\nssh-ed25')],
  ] as const) {
    t(`stays as it was for a list ${what}`, async () => {
      machine.put(PATH, LAUNCH)
      service.more = () => ({ authorizedKeys: answer })
      assert.match((await report(0)).stderr, 'no list of keys')
      assert.is(machine.read(PATH), LAUNCH)
    })
  }
  t('stays as it is while the service is away, and where it says nothing of keys', async () => {
    keys = [keyOf('boxer', 1)]
    await report(0)
    service.status = 503
    await report(1)
    service.status = 200
    service.more = () => ({})
    await report(2)
    assert.is(machine.read(PATH), authorizedLines(keys))
  })
})
