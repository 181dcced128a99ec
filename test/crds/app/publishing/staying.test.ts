import type { LetInNote, StaysOpen } from '../../../../crds/app/lifecycle/publishing/letin.ts'
import {
  OPEN_AGAIN_MAX_MS,
  OPEN_AGAIN_MS,
  openAgainAt,
  toldNote,
} from '../../../../crds/app/lifecycle/publishing/open.ts'
import { noteEnded, notePutOff, noteStaying, noteUnable } from '../../../../crds/app/lifecycle/publishing/staying.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld, Release } from '../../../../crds/app/world.ts'
import { AT, aLook, anApp, anOperation, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** What its host could not end, and how long that is said (rules/app.md#what-is-open). */

const LATER = '2026-11-22T10:05:00.000Z'
const WHY = 'the kernel ends no connections (CONFIG_INET_DIAG_DESTROY)'
const STAYS: StaysOpen = { whose: ['other'], since: AT, why: WHY, places: ['local/127.0.0.1:30001'] }
const NOTE: LetInNote = { access: 'private', password: 1, links: 0, again: [], at: AT, stays: STAYS }
const { stays: _stays, ...BARE } = NOTE

const shut = (change: Partial<AppResource['spec']> = {}) => anApp({ access: 'private', passwordVersion: 1, ...change })

const worldOf = (letIn: LetInNote, releases: Release[] = [aRelease(1)], change: Partial<AppWorld> = {}): AppWorld => ({
  ...aWorld({ releases, look: aLook({ address: releases[0]?.address ?? null }), passwordVersion: 3, ...change }),
  route: { digest: 'd', address: '127.0.0.1:30001', letIn },
})

const said = (app: AppResource, world: AppWorld): string[] =>
  (planApp(app, world, NOW).conditions ?? []).flatMap(({ type, status, reason, message }) =>
    type === 'OpenConnectionsStay' ? [`${status} ${reason} ${message}`] : [],
  )
const isSaid = (app: AppResource, world: AppWorld): boolean => said(app, world).length === 1

/** The one step that ends what is open. */
const ending = (app: AppResource, world: AppWorld) => {
  const [step, ...more] = planApp(app, world, NOW).steps.flatMap((one) => (one.do === 'endOpen' ? [one] : []))
  assert.equal(more, [])
  return step as NonNullable<typeof step>
}

const superseded = aRelease(1, { state: 'superseded', supersededAt: LATER })
const gone: Release = { ...superseded, retiredAt: LATER }
const next = aRelease(2, { liveAt: LATER })
const RECORD = aRelease(1).record
/** Its routed service keeps something, so that it may go on with the container that it has. */
const single = (number: number, change: Partial<Release> = {}): Release =>
  aRelease(number, {
    address: '127.0.0.1:30001',
    record: { ...RECORD, route: { service: 'web', port: 80 }, stateful: ['web'] },
    ...change,
  })

spec('what a host cannot end', (t) => {
  t('is a condition that says since when, why, who keeps what, and what to do', () => {
    const [text = '', ...more] = said(shut(), worldOf(NOTE))
    assert.equal(more, [])
    for (const part of [
      'True HostCannotEnd',
      `since ${AT}`,
      WHY,
      'whoever was let in before by password or while it was public keeps what they have open',
      'until they close it, or its containers are replaced: deploy again and',
      'hack/host-setup',
    ]) {
      assert.ok(text.includes(part), `${part} is not in: ${text}`)
    }
    assert.ok(!text.includes('by a link'), text)
  })

  t('names those who came by a link where it is theirs', () => {
    const [text] = said(shut(), worldOf({ ...NOTE, stays: { ...STAYS, whose: ['link'] } }))
    assert.match(text ?? '', /whoever came by a link that is over keeps/)
    assert.ok(!text?.includes('by password'), text)
  })

  t('says that one which keeps something needs a change for its container to be replaced', () => {
    assert.match(said(shut(), worldOf(NOTE, [single(1)]))[0] ?? '', /deploy again with another image or env/)
  })

  const refused = { account: { name: 'demo', capabilities: [] } }
  const cases: [string, boolean, AppResource, AppWorld][] = [
    ['nothing was left open', false, shut(), worldOf(BARE)],
    ['the app is public again', false, shut({ access: 'public' }), worldOf({ ...NOTE, access: 'public' })],
    ['its host cannot be reached', true, shut(), worldOf(NOTE, undefined, { unreachable: 'away' })],
    ['nothing may be done for it', true, shut(), worldOf(NOTE, undefined, refused)],
    ['the next release is live and the one before drains still', true, shut(), worldOf(NOTE, [next, superseded])],
    ['the next release is live and the one before is gone', false, shut(), worldOf(NOTE, [next, gone])],
    [
      'a later release took the very port of the one that is gone',
      false,
      shut(),
      worldOf(NOTE, [{ ...next, address: '127.0.0.1:30001' }, gone]),
    ],
    [
      'the next release turned out to be bad and visitors went back',
      true,
      shut(),
      worldOf(NOTE, [{ ...next, state: 'failed' }, aRelease(1)]),
    ],
    [
      'the next release goes on with the container of before',
      true,
      shut(),
      worldOf(NOTE, [single(2, { liveAt: LATER }), { ...single(1), state: 'superseded', retiredAt: LATER }]),
    ],
    [
      'the next release has the container of before replaced',
      false,
      shut(),
      worldOf(NOTE, [
        single(2, { liveAt: LATER, address: '127.0.0.1:30002' }),
        { ...single(1), state: 'superseded', retiredAt: LATER },
      ]),
    ],
    ['its container was started anew', false, shut(), worldOf(NOTE, [aRelease(1, { address: '127.0.0.1:30009' })])],
    [
      'the next release is on another host, at the same port',
      false,
      shut(),
      worldOf(NOTE, [single(2, { liveAt: LATER, record: { ...single(2).record, host: 'other' } }), gone]),
    ],
    [
      'one of several replicas is there still',
      true,
      shut(),
      worldOf(NOTE, [aRelease(1, { address: '127.0.0.1:30005,127.0.0.1:30001' })]),
    ],
    [
      'a replica of then is leaving',
      true,
      shut(),
      worldOf(NOTE, [
        aRelease(1, {
          address: '127.0.0.1:30005',
          record: { ...RECORD, leaving: [{ name: 'web.2', address: '127.0.0.1:30001', since: AT }] },
        }),
      ]),
    ],
  ]
  for (const [what, expected, app, world] of cases) {
    t(`is ${expected ? '' : 'not '}said when ${what}`, () => assert.is(isSaid(app, world), expected))
  }

  t('is said beside a deploy that failed', () => {
    const operations = [anOperation({ state: 'failed', endedAt: AT })]
    const { conditions = [] } = planApp(shut(), worldOf(NOTE, undefined, { operations }), NOW)
    assert.equal(conditions.map(({ type }) => type).toSorted(), ['OpenConnectionsStay', 'ReleaseFailed'])
  })
})

spec('the record of what a host could not end', (t) => {
  const failed = { why: WHY, since: LATER }

  t(
    'begins where it could not, with all places at which anything can be open, and is not tried again by itself',
    () => {
      const app = shut({ passwordVersion: 2 })
      const leaving = [{ name: 'web.2', address: '127.0.0.1:30007', since: AT }]
      const world = worldOf(BARE, [
        aRelease(2, { record: { ...RECORD, leaving } }),
        superseded,
        aRelease(0, { state: 'superseded', retiredAt: AT }),
      ])
      const { whose, note, places } = ending(app, world)
      assert.equal(places, ['local/127.0.0.1:30002', 'local/127.0.0.1:30007', 'local/127.0.0.1:30001'])
      const known = noteUnable(note, { ...failed, whose, places })
      assert.equal([known.again, known.stays], [[], { ...failed, whose: ['other'], places }])
      assert.ok(isSaid(app, { ...world, route: { digest: 'd', address: '', letIn: known } }))
      const after = planApp(app, { ...world, route: { digest: 'd', address: '', letIn: known } }, NOW)
      assert.ok(after.steps.every((step) => step.do !== 'endOpen'))
    },
  )

  t('is tried again soon where its host only failed at it, and said so; then it is over', () => {
    const app = shut({ passwordVersion: 2 })
    const { whose, note, places } = ending(app, worldOf(BARE))
    const since = NOW.toISOString()
    const known = notePutOff(note, { ...failed, since, whose, places })
    const left = worldOf(toldNote({ route: { digest: 'd', address: '', letIn: known } }, NOW) ?? known)
    const plan = planApp(app, left, NOW)
    const due = new Date(NOW.getTime() + OPEN_AGAIN_MS)
    assert.ok(plan.steps.every((step) => step.do !== 'endOpen'))
    assert.is(plan.wakeAt, due.toISOString())
    const said = plan.conditions?.find(({ type }) => type === 'OpenConnectionsStay')
    assert.match(said?.message ?? '', /, and tries again\. /)
    const [again] = planApp(app, left, due).steps.flatMap((step) => (step.do === 'endOpen' ? [step] : []))
    assert.equal(again?.whose, ['other'])
    const ended = again && noteEnded(again.note, again.whose, ['local'])
    assert.equal([ended?.again, ended?.stays], [[], undefined])
  })

  /** Its guard is away from `fromMs` on: what is kept after each try, and when that was, in ms. */
  const triesFor = (ms: number) => {
    const app = shut({ passwordVersion: 2 })
    let known: LetInNote = BARE
    const tries: [number, LetInNote][] = []
    for (let atMs = 0; atMs <= ms; ) {
      const now = new Date(NOW.getTime() + atMs)
      const [step] = planApp(app, worldOf(known), now).steps.flatMap((one) => (one.do === 'endOpen' ? [one] : []))
      if (step) {
        const { whose, note, places } = step
        known = notePutOff(note, { why: WHY, since: now.toISOString(), whose, places })
        tries.push([atMs, known])
        known = toldNote(worldOf(known), now) ?? known
      }
      const [next = ''] = openAgainAt(worldOf(known), now)
      atMs = Date.parse(next) - NOW.getTime()
    }
    return tries
  }

  t('is tried more seldom the longer its host fails at it, and says the same of it each time', () => {
    const tries = triesFor(60_000)
    const pauses = tries.slice(1).map(([atMs], index) => atMs - (tries[index]?.[0] ?? 0))
    assert.ok(
      pauses.every((ms) => ms >= OPEN_AGAIN_MS && ms <= OPEN_AGAIN_MAX_MS),
      pauses.join(),
    )
    assert.equal([pauses[0], pauses.at(-1)], [OPEN_AGAIN_MS, OPEN_AGAIN_MAX_MS])
    assert.equal(
      pauses,
      pauses.toSorted((a, b) => a - b),
    )
    const since = NOW.toISOString()
    assert.equal([...new Set(tries.map(([, { stays }]) => stays?.since))], [since])
    const app = shut({ passwordVersion: 2 })
    const told = tries.map(([, note]) => said(app, worldOf(note)).join())
    assert.equal([...new Set(told)].length, 1)
    assert.match(told[0] ?? '', since)
  })

  t('comes in its time again for who is refused later', () => {
    const putOff = { ...BARE, again: ['link' as const], tries: 9, stays: { ...STAYS, whose: ['link' as const] } }
    const { whose, note } = ending(shut({ passwordVersion: 2 }), worldOf({ ...putOff, at: NOW.toISOString() }))
    assert.equal([whose, note.again, note.tries], [['other'], ['other', 'link'], undefined])
    const kept = toldNote(worldOf(noteEnded(note, whose, ['local'])), NOW) ?? note
    assert.equal(openAgainAt(worldOf(kept), NOW), [new Date(NOW.getTime() + OPEN_AGAIN_MS).toISOString()])
  })

  t('goes by the containers of the last try, and says since the first', () => {
    const retried = notePutOff(NOTE, { ...failed, whose: ['other'], places: ['local/127.0.0.1:30002'] })
    assert.equal(retried.stays, { ...STAYS, since: AT, last: LATER, places: ['local/127.0.0.1:30002'] })
    assert.ok(isSaid(shut(), worldOf(retried, [next, gone])), 'of the release that went live before it')
  })

  t('is carried over a step that ends nothing, also while the app is public', () => {
    const opened = ending(shut({ access: 'public' }), worldOf(NOTE))
    assert.equal([opened.whose, noteEnded(opened.note, opened.whose, ['local']).stays], [[], STAYS])
  })

  t('is over once a host that can do it again has ended what they opened', () => {
    const { whose, note } = ending(shut({ passwordVersion: 2 }), worldOf(NOTE))
    assert.equal([whose, note.stays], [['other'], STAYS])
    const { stays, again } = noteEnded(note, whose, ['local'])
    assert.equal([stays, again], [undefined, ['other']])
  })

  t('stands where only what others opened was ended', () => {
    const { whose, note } = ending(shut(), worldOf(NOTE, undefined, { linksEnded: 1 }))
    assert.equal([whose, noteEnded(note, whose, ['local']).stays], [['link'], STAYS])
    const both: LetInNote = { ...note, stays: { ...STAYS, whose: ['link', 'other'] } }
    assert.equal(noteEnded(both, whose, ['local']).stays, STAYS)
  })

  t('takes up whose came later, from when that was', () => {
    const { whose, note, places } = ending(shut(), worldOf(NOTE, undefined, { linksEnded: 1 }))
    const { stays } = noteUnable(note, { ...failed, whose, places })
    assert.equal(stays, { ...failed, whose: ['other', 'link'], places })
  })

  t('is dropped with the next step once the containers of then are gone', () => {
    const { note } = ending(shut({ passwordVersion: 2 }), worldOf(NOTE, [next, gone]))
    assert.ok(!('stays' in note), JSON.stringify(note))
  })
})

/** It moved from `before` to `local`, and what began there goes on until `LATER`. */
const moved = (letIn: LetInNote, change: Partial<AppWorld> = {}): AppWorld =>
  worldOf(letIn, [next, { ...superseded, record: { ...RECORD, host: 'before' } }], {
    places: [
      { host: 'local', place: 'home', until: null },
      { host: 'before', place: 'left', until: LATER },
    ],
    ...change,
  })

spec('what is open at a host that the app has left', (t) => {
  const [home, left] = ['local/127.0.0.1:30002', 'before/127.0.0.1:30001']
  const [app, failed] = [shut({ passwordVersion: 2 }), { why: WHY, since: LATER, whose: ['other' as const] }]

  t('is ended there too', () => {
    const { whose, places, left: also } = ending(app, moved(BARE))
    assert.equal([whose, places, also], [['other'], [home, left], ['before']])
    assert.equal(ending(app, worldOf(BARE)).left, [])
    const gone = moved(BARE, { releases: [next] })
    assert.equal(ending(app, gone).left, [], 'nothing of it was reached there')
  })

  t('is said where that host could not end it, until what is left of it there goes', () => {
    const { note, whose } = ending(app, moved(BARE))
    const known = noteStaying(noteEnded(note, whose, ['local']), { ...failed, places: [left] })
    assert.equal([known.again, known.stays?.places], [['other'], [left]])
    const [text = ''] = said(app, moved(known))
    assert.match(text, `until they close it, or what is left of it on before goes by itself, at ${LATER}`)
    assert.ok(!text.includes('deploy again') && !text.includes('tries again'), text)
    assert.is(isSaid(app, moved(known, { releases: [next] })), false)
  })

  t('is not tried again by itself, whatever becomes of what is open where it lives', () => {
    const { note } = ending(app, moved(BARE))
    const known = noteStaying(note, { ...failed, places: [left] })
    const again = ending(app, moved({ ...known, at: new Date(NOW.getTime() - OPEN_AGAIN_MS).toISOString() }))
    assert.equal([again.whose, again.left], [['other'], []])
    assert.equal(ending(shut({ passwordVersion: 3 }), moved(known)).left, ['before'])
  })

  t('stays on record when only the host of now has ended what it could not before', () => {
    const both: LetInNote = { ...NOTE, stays: { ...STAYS, places: [home, left] } }
    assert.equal(noteEnded(both, ['other'], ['local']).stays?.places, [left])
    assert.equal(noteEnded(both, ['other'], ['local', 'before']).stays, undefined)
    assert.equal(noteEnded(both, ['other'], []).stays, both.stays)
    assert.equal(noteEnded(both, ['link'], ['local']).stays, both.stays)
    const text = said(shut(), moved(both))[0] ?? ''
    assert.match(text, /drains; on before, until what is left of it there goes by itself, at /)
  })

  t('stays on record when the host of now could not either', () => {
    const known = noteUnable({ ...NOTE, stays: { ...STAYS, places: [left] } }, { ...failed, places: [home] })
    assert.equal(known.stays?.places, [left, home])
  })
})
