import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { makeIdentity } from '../../../controllers/kube/identity.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const MODULE = join(import.meta.dirname, '..', '..', '..', 'controllers', 'kube', 'identity.ts')
const SCRIPT = `
import { makeIdentity } from ${JSON.stringify(MODULE)}
process.stdout.write(makeIdentity({ host: 'one-host', podUid: process.argv[1] ?? '' }).name)
setInterval(() => {}, 1_000)`

/** A process of its own, and what it calls itself. */
const other = async (podUid = ''): Promise<{ child: ChildProcess; name: string }> => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT, podUid], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [chunk] = await once(child.stdout, 'data')
  return { child, name: String(chunk) }
}

const end = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

spec('the identity of a process', (t) => {
  t('two on one host differ, and neither takes the other for dead while it lives', async () => {
    const { child, name } = await other()
    const own = makeIdentity({ host: 'one-host', podUid: '' })
    assert.ok(name.startsWith('one-host_'))
    assert.is.not(own.name, name)
    assert.is(own.isDead(name), false)
    assert.is(own.isDead(own.name), false)
    await end(child)
    assert.is(own.isDead(name), true)
  })

  t('a pid that was given out again is not the process that had it', () => {
    const own = makeIdentity({ host: 'h', podUid: '' })
    const parts = own.name.split('_')
    parts[parts.length - 2] = '1'
    assert.is(own.isDead(parts.join('_')), true)
  })

  t('who cannot be looked at is not known to be dead: another host, another pod, a name of a person', async () => {
    const { child, name } = await other('pod-a')
    await end(child)
    assert.is(makeIdentity({ host: 'h', podUid: 'pod-b' }).isDead(name), false)
    assert.is(makeIdentity({ host: 'h', podUid: '' }).isDead(name), false)
    const own = makeIdentity({ host: 'h', podUid: '' })
    const parts = own.name.split('_')
    parts[2] = 'another-boot'
    assert.is(own.isDead(parts.join('_')), false)
    for (const holder of ['human', '', 'bottega-controllers-7d', 'a_b_c_d_e_f_g', own.name.replace('h_', '')])
      assert.is(own.isDead(holder), false, holder)
  })

  t('in one pod the container before is dead, wherever its processes were numbered', () => {
    const own = makeIdentity({ host: 'h', podUid: 'pod-a' })
    const parts = own.name.split('_')
    parts[3] = '1'
    assert.is(own.isDead(parts.join('_')), true)
  })
})
