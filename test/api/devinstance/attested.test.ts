/**
 * What a machine attests, before the registry as it runs: its host keys are its own, and what it says of itself again after a start or
 * an hour is held against what it was finalized as. The very programs of the bootstrap say it, of a real sshd.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attestScript } from '../../../crds/devinstance/bootstrap/attest.ts'
import { reporterScript } from '../../../crds/devinstance/bootstrap/reporter.ts'
import { sshdDropIn } from '../../../crds/devinstance/bootstrap/sshd.ts'
import { type Machine, madeMachine } from '../../support/builders/machine.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, makeMinter } from '../../support/stage/callers.ts'
import { cloud, finalizeBody, makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const REPORTER = reporterScript([])
const ATTEST = attestScript([])
const GONE = { instanceGone: true, eipGone: true, volumesGone: true }

spec('what a dev instance attests', (t) => {
  let platform: Platform
  let box: Provisioner
  let admin = ''
  const folder = mkdtempSync(join(tmpdir(), 'bottega-attested-'))

  t.before(
    async () => {
      platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
      admin = await addAccount(platform, 'chief', { capabilities: ['devbox.manage'], role: 'admin' })
      const owner = await addAccount(platform, 'witness', { capabilities: ['devbox.manage'] })
      await setCap(platform, { account: 'witness', token: owner }, 500)
      box = makeProvisioner(platform, owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.end()
  })

  const say = async (id: string, word: string, body: Json = {}): Promise<Json> => {
    const { version } = await box.detail(id)
    const { status, json, text } = await box.on(id, 'POST', word, { version, ...body })
    assert.is(status, 200, `${word}: ${text}`)
    return json.devbox
  }
  /** Up to the report token. */
  const configuring = async (): Promise<{ devbox: Json; token: string; of: ReturnType<typeof cloud> }> => {
    const { devbox } = await box.reserve({ agents: [] })
    const of = cloud()
    await box.on(devbox.id, 'POST', 'provisioning', { instanceId: of.instanceId })
    const { json } = await box.on(devbox.id, 'POST', 'token')
    return { devbox: await box.detail(devbox.id), token: json.token, of }
  }
  /** One that runs, with a machine on which its programs are, and that has attested for finalize alone. */
  const running = async () => {
    const { devbox, token, of } = await configuring()
    const { id } = devbox
    const machine: Machine = madeMachine(join(folder, id))
    machine.put('/etc/bottega/token', `${token}\n`)
    machine.put('/etc/bottega/url', `${platform.baseUrl}\n`)
    machine.answers('ss', 'LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n')
    const hostKey = machine.at('/etc/ssh/ssh_host_ed25519_key')
    const sshd = (more = '') =>
      machine.put('/etc/ssh/sshd_config', `${sshdDropIn()}${more}HostKey ${hostKey}\nUsePAM yes\n`)
    sshd()
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey])
    /** What bottega-attest.service does. */
    const attests = async (): Promise<Json> => {
      const { code, stdout, stderr } = await machine.run(ATTEST)
      assert.is(code, 0, stderr)
      machine.put('/run/bottega-attest/said', stdout)
      return JSON.parse(stdout)
    }
    const reports = async (): Promise<void> => {
      machine.answers('ss', '')
      const { code, stderr } = await machine.run(REPORTER)
      machine.answers('ss', 'LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n')
      assert.equal([code, stderr], [0, ''])
    }
    const { facts, assertions } = await attests()
    const body = finalizeBody(devbox, of)
    const finalize = { ...body, facts: { ...body.facts, ...facts }, assertions }
    assert.is((await box.on(id, 'POST', 'finalize', finalize)).status, 200)
    await say(id, 'started')
    return { id, machine, sshd, hostKey, facts, attests, reports }
  }
  const typesOf = async (id: string): Promise<string[]> =>
    (await box.detail(id)).conditions.map(({ type }: Json) => type)

  t('a host key is that of one machine: another one that has it is not ready, and is on record', async () => {
    const [first, second] = [await configuring(), await configuring()]
    const body = finalizeBody(first.devbox, first.of)
    assert.is((await box.on(first.devbox.id, 'POST', 'finalize', body)).status, 200)
    const own = finalizeBody(second.devbox, second.of)
    const twin = { ...own, facts: { ...own.facts, hostKeys: body.facts.hostKeys } }
    const { status, json } = await box.on(second.devbox.id, 'POST', 'finalize', twin)
    assert.equal(
      [status, json.code, json.errors.map(({ pointer }: Json) => pointer)],
      [422, 'ASSERTION_FAILED', ['/facts/hostKeys']],
    )
    assert.match(json.detail, /another dev instance has one of these/)
    const held = await box.detail(second.devbox.id)
    assert.equal([held.state, held.hostKeys], ['configuring', []])
    assert.ok(held.events.some(({ kind }: Json) => kind === 'contradicted'))
    // what is over has none any more
    await say(first.devbox.id, 'terminated', GONE)
    assert.is((await box.on(second.devbox.id, 'POST', 'finalize', twin)).status, 200)
    await say(second.devbox.id, 'terminated', GONE)
  })

  t(
    'again, what it says after a start and every hour is held against that, and what differs is a condition until it is mended',
    async () => {
      const { id, machine, sshd, hostKey, facts, attests, reports } = await running()
      assert.is((await box.detail(id)).attestation, null)
      const attestationOf = async () => (await box.detail(id)).attestation as Json
      const told = async () => (await box.detail(id)).events.filter(({ kind }: Json) => kind === 'attested').length

      await reports()
      await eventually('that it attested', async () => (await attestationOf()) !== null)
      assert.equal((await attestationOf()).faults, [])
      assert.equal(await typesOf(id), [])
      // the same an hour later is known
      await attests()
      await reports()
      assert.is(await told(), 1)

      sshd('Match User dev\n  PasswordAuthentication yes\nMatch all\n')
      machine.put('/etc/shadow', 'root:*:1::::::\ndev:$y$j9T$x:1::::::\n')
      await attests()
      await reports()
      await eventually('the condition', async () => (await typesOf(id)).includes('AttestationDiffers'))
      const [{ message }] = (await box.detail(id)).conditions
      assert.match(
        message,
        /openAccounts must be \[\], and was \["dev"\]; .*passwordauthentication must be no, and was yes/,
      )
      assert.match(message, /^log in and mend it, or take it down and launch another one; /)
      const kubectl = await platform.kubectl(['describe', 'dbx', id])
      assert.match(kubectl, /Type: +AttestationDiffers/)

      sshd()
      machine.put('/etc/shadow', 'root:*:1::::::\ndev:!:1::::::\n')
      await attests()
      await reports()
      await eventually('the condition to go', async () => !(await typesOf(id)).includes('AttestationDiffers'))
      assert.is(await told(), 3)

      // after a start it is said again, though it is the same
      await say(id, 'stopped')
      await say(id, 'started')
      rmSync(machine.at('/run'), { recursive: true })
      await attests()
      await reports()
      await eventually('that it attested after the start', async () => (await told()) === 4)
      // with other host keys it is another machine
      rmSync(hostKey)
      rmSync(`${hostKey}.pub`)
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey])
      const { facts: changed } = await attests()
      await reports()
      await eventually('the condition', async () => (await typesOf(id)).includes('AttestationDiffers'))
      const [, fault] = [changed, (await attestationOf()).faults[0]]
      assert.match(fault, `facts.hostKeys must be ${facts.hostKeys[0]}, and was ["${changed.hostKeys[0]}"]`)
    },
    { timeoutMs: 240_000 },
  )

  t(
    'once it attests no more a condition says so, though it reports as ever, and the next one ends it',
    async () => {
      const { id, machine, attests, reports } = await running()
      const passes = async (advance: string): Promise<void> => {
        const { status, text } = await call(platform.baseUrl, admin, 'POST', '/api/dev/clock', { advance })
        assert.is(status, 200, text)
      }
      const isMissing = async (): Promise<boolean> => (await typesOf(id)).includes('AttestationMissing')
      await reports()
      await passes('PT1H')
      // the same as an hour before, and told all the same
      await attests()
      await reports()
      await passes('PT2H30M')
      await reports()
      assert.is(await isMissing(), false)

      // the timer was disabled: it goes on reporting
      await passes('PT31M')
      await reports()
      await eventually('the condition', isMissing)
      const words =
        /it has not attested since .*; nothing is refused for it, and nothing costs more; log in and look why/
      const { conditions } = await box.detail(id)
      const [missing] = conditions.filter(({ type }: Json) => type === 'AttestationMissing')
      assert.match(missing.message, words)
      assert.match(missing.since, /^\d{4}-\d{2}-\d{2}T/)
      assert.match(await platform.kubectl(['describe', 'dbx', id]), /Type: +AttestationMissing/)
      const minter = makeMinter(platform)
      const session = await minter.session('witness')
      const page = await call(platform.baseUrl, session, 'GET', '/account/devboxes', undefined, { accept: 'text/html' })
      await minter.end()
      assert.match(page.text, words)
      const { version } = await box.detail(id)
      const larger = { version, sizeClass: 'S' }
      assert.is((await box.on(id, 'POST', 'resizing?dryRun=1', larger)).status, 200, 'nothing is refused for it')

      const before = (await box.detail(id)).events.length
      await attests()
      await reports()
      await eventually('the condition to go', async () => !(await isMissing()))
      assert.is((await box.detail(id)).events.length, before, 'what it attests is what it did before')

      // and one that is started anew and does not
      await say(id, 'stopped')
      await passes('PT10M')
      await say(id, 'started')
      rmSync(machine.at('/run'), { recursive: true })
      await passes('PT14M')
      await reports()
      assert.is(await isMissing(), false)
      await passes('PT2M')
      await eventually('the condition', isMissing)
      await say(id, 'stopped')
      await eventually('the condition to go', async () => !(await isMissing()))
    },
    { timeoutMs: 300_000 },
  )
})
