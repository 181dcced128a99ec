/** A machine that attests no more, though it is to after each start and every hour (rules/devinstance.md#attested-again). */
import { attestedNews } from '../../../../crds/devinstance/bootstrap/report.ts'
import { attested } from '../../../../crds/devinstance/life/effects.ts'
import type { DevInstanceRow } from '../../../../crds/devinstance/life/row.ts'
import { planDevInstance } from '../../../../crds/devinstance/plan.ts'
import { conditionsOf } from '../../../../crds/devinstance/standing/conditions.ts'
import type { DevInstanceWorld } from '../../../../crds/devinstance/world.ts'
import { aDevInstance, after, anInstance, later, minutes, T0 } from '../../../support/builders/devinstance.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const HOUR = minutes(60)
const SECOND = 1_000

const aWorld = (instance: DevInstanceRow, attestedAt: string | null, heardAt: string): DevInstanceWorld => ({
  account: { capabilities: ['devbox.manage'], capMicroUsd: 100_000_000 },
  record: { uid: 'uid-1', rev: 7, pricingVersion: instance.pricingVersion, box: instance, othersMicroUsd: 0 },
  pending: [],
  // it reports as ever
  lastReport: { at: heardAt, git: null, usedAt: null, attestedAt },
  factSeq: 0,
})
/** What is said of its attesting at an instant. */
const said = (instance: DevInstanceRow, attestedAt: string | null, at: string): string | undefined =>
  conditionsOf(instance, aWorld(instance, attestedAt, at), new Date(at)).find(
    ({ type }) => type === 'AttestationMissing',
  )?.message
const wakeAt = (instance: DevInstanceRow, attestedAt: string | null, at: string): string | undefined =>
  planDevInstance(anInstance({ name: 'october' }), aWorld(instance, attestedAt, at), new Date(at)).wakeAt

spec('a running dev instance that attests no more', (t) => {
  const running = after(aDevInstance(), 'provisioning', 'token', 'finalize', 'started')
  const started = running.startedAt ?? ''

  t('says so 15 minutes after a start that was followed by none, and that is when it is looked at', () => {
    const due = later(minutes(15), started)
    assert.is(said(running, null, later(-1, due)), undefined)
    const message = said(running, null, due) ?? ''
    assert.match(message, new RegExp(`^it has not attested since its start at ${started}, `))
    assert.match(message, /nothing is refused for it, and nothing costs more; /)
    assert.match(message, /log in and look why bottega-attest[.]timer .* or take it down and launch another one$/)
    // it reports at every minute, so that nothing else is due before
    assert.is(wakeAt(running, null, later(-minutes(1), due)), due)
  })

  t('says so three hours after the last, for it is told every hour, and the next one ends it', () => {
    const last = later(2 * HOUR, started)
    const due = later(3 * HOUR, last)
    assert.is(said(running, last, later(-1, due)), undefined)
    assert.match(said(running, last, due) ?? '', new RegExp(`^it has not attested since ${last}, `))
    assert.is(wakeAt(running, last, later(-minutes(1), due)), due)
    assert.is(said(running, due, due), undefined)
  })

  t('goes by what was on record as a fact, where a report did not say it', () => {
    const attestation = { at: later(HOUR, started), faults: [] }
    assert.is(said({ ...running, attestation }, null, later(4 * HOUR - 1, started)), undefined)
    assert.match(said({ ...running, attestation }, null, later(4 * HOUR, started)) ?? '', /not attested since/)
  })

  t('counts none of before the start; a machine that attests before anybody says that it was started has', () => {
    const stopped = after(running, 'stopped')
    const again = after(stopped, 'started')
    const since = again.machineSince
    assert.match(said(again, later(-minutes(6), since), later(minutes(15), since)) ?? '', /since its start/)
    assert.is(said(again, later(-minutes(4), since), later(minutes(15), since)), undefined)
  })

  t('has attested where that was before it was finalized, which is an attestation as well', () => {
    assert.is(said(running, later(SECOND, T0), later(HOUR, started)), undefined)
  })

  t('is not one that does not run, nor one whose programs say it once a start or not at all', () => {
    const at = later(24 * HOUR, started)
    assert.is(said(after(running, 'stopped'), null, at), undefined)
    assert.is(said({ ...running, machine: 'down' }, null, at), undefined)
    assert.is(said(after(running, 'resizing'), null, at), undefined)
    assert.is(said(after(running, 'terminated'), null, at), undefined)
    for (const programs of [2, 3]) assert.is(said({ ...running, programs }, null, at), undefined)
  })

  t('says first what to do where it differs, and of each fault as much as there is room for', () => {
    const attestation = { at: started, faults: Array.from({ length: 10 }, (_, n) => `${n} ${'x'.repeat(2_000)}`) }
    const found = conditionsOf({ ...running, attestation }, aWorld(running, null, started), new Date(started))
    const { message = '' } = found.find(({ type }) => type === 'AttestationDiffers') ?? {}
    assert.match(message, /^log in and mend it, or take it down and launch another one; /)
    assert.ok(message.length < 1_024, `${message.length}`)
  })
  t('is heard twelve times an hour at most, whatever it says: each is on record for ever', () => {
    let instance = running
    let heard = 0
    for (let n = 0; n < 90; n++) {
      const at = later(n * minutes(1), '2026-11-22T10:00:00.000Z')
      const body = { at, attested: { facts: { hostKeys: [`SHA256:${n}`] }, assertions: {} } }
      const news = attestedNews(instance, { at, body })
      if (news === null) continue
      heard += 1
      instance = attested({ instance, said: news, at } as Parameters<typeof attested>[0]).instance
    }
    assert.is(heard, 24)
  })
})
