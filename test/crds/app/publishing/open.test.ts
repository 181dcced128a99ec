import { OPEN_AGAIN_MS, openAgainAt, toldNote } from '../../../../crds/app/lifecycle/publishing/open.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { AT, aLook, anApp, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const LET_IN = { access: 'private', password: 1, links: 0, again: [], at: AT } as const
type Note = {
  at: string | null
  access: 'private' | 'public'
  password: number | null
  links: number
  again: ('link' | 'other')[]
}

spec('what is open at an app', (t) => {
  const shut = (change: Partial<AppResource['spec']> = {}) =>
    anApp({ access: 'private', passwordVersion: 1, ...change })
  const world = (note: Partial<Note> | null, change: Partial<AppWorld> = {}): AppWorld => {
    const release = aRelease(1)
    const look = aLook({ address: '127.0.0.1:30001' })
    const letIn = note && { ...LET_IN, again: [], ...note }
    const base = aWorld({ releases: [release], look, passwordVersion: 2, ...change })
    return { ...base, route: { digest: 'd', address: '127.0.0.1:30001', letIn } }
  }
  /** Once the mirror of it is written. */
  const told = (note: Partial<Note>, at = NOW): AppWorld => {
    const seen = world(note)
    return { ...seen, route: seen.route && { ...seen.route, letIn: toldNote(seen, at) ?? seen.route.letIn ?? null } }
  }
  const ended = (app: AppResource, seen: AppWorld, now = NOW) =>
    planApp(app, seen, now).steps.flatMap((step) => (step.do === 'endOpen' ? [step] : []))
  const whose = (app: AppResource, seen: AppWorld, now = NOW) => ended(app, seen, now).map((step) => step.whose)

  const cases: [string, AppResource, Partial<Note>, Partial<AppWorld>, string[][]][] = [
    ['nobody is refused', shut(), {}, {}, []],
    ['it turns private', shut(), { access: 'public' }, {}, [['other']]],
    ['its password is another', shut({ passwordVersion: 2 }), {}, {}, [['other']]],
    ['a link is over', shut(), {}, { linksEnded: 1 }, [['link']]],
    ['both are', shut({ passwordVersion: 2 }), {}, { linksEnded: 1 }, [['other', 'link']]],
    ['it is opened to all', shut({ access: 'public' }), {}, {}, [[]]],
    ['a link is over that nobody has to have', shut({ access: 'public' }), { access: 'public' }, { linksEnded: 1 }, []],
    [
      'it turns private and a link ended while nobody had to have it',
      shut(),
      { access: 'public' },
      { linksEnded: 1 },
      [['other', 'link']],
    ],
    ['it cannot be reached', shut({ passwordVersion: 2 }), {}, { unreachable: 'away' }, []],
  ]
  for (const [what, app, note, change, expected] of cases) {
    t(`ends for ${expected.flat().join(' and ') || 'nobody'} when ${what}`, () => {
      assert.equal(whose(app, world(note, change)), expected)
    })
  }

  t('remembers which links ended before the app was opened to all', () => {
    const [opened] = ended(shut({ access: 'public' }), world({ links: 3 }, { linksEnded: 4 }))
    assert.equal([opened?.whose, opened?.note.links], [[], 3])
    const [closed] = ended(shut(), world({ ...opened?.note } as Partial<Note>, { linksEnded: 4 }))
    assert.equal([closed?.whose, closed?.note.links], [['other', 'link'], 4])
  })

  t('is on record before anything is ended', () => {
    const [step] = ended(shut(), world(null))
    assert.equal([step?.whose, step?.note], [[], { ...LET_IN, at: NOW.toISOString() }])
  })

  t('comes after the route that lets nobody else in', () => {
    const steps = planApp(shut(), world({ access: 'public' }), NOW).steps.map((step) => step.do)
    assert.ok(steps.indexOf('setRoute') >= 0 && steps.indexOf('setRoute') < steps.indexOf('endOpen'), steps.join())
  })

  t('ends a second time for who came back meanwhile, and no third', () => {
    const app = shut({ passwordVersion: 2 })
    const [first] = ended(app, world({}))
    assert.equal(first?.note, { ...LET_IN, password: 2, again: ['other'], at: null })
    const after = told({ ...first?.note })
    const plan = planApp(app, after, NOW)
    const dueMs = NOW.getTime() + OPEN_AGAIN_MS
    assert.equal([whose(app, after), plan.wakeAt], [[], new Date(dueMs).toISOString()])
    const [second] = ended(app, after, new Date(dueMs))
    assert.equal([second?.whose, second?.note.again], [['other'], []])
    assert.equal(whose(app, world({ ...second?.note } as Partial<Note>), new Date(dueMs)), [])
  })

  t('counts the second time from when the gate knows, however long that takes', () => {
    const app = shut({ passwordVersion: 2 })
    const [first] = ended(app, world({}))
    const untold = world({ ...first?.note } as Partial<Note>)
    const laterMs = NOW.getTime() + 60_000
    const late = new Date(laterMs)
    assert.equal(whose(app, untold, late), [], 'nobody knows of it yet')
    const waitMs = Date.parse(planApp(app, untold, late).wakeAt ?? '') - laterMs
    assert.ok(waitMs >= OPEN_AGAIN_MS && waitMs <= OPEN_AGAIN_MS + 1_000, `looks again after ${waitMs} ms`)
    const known = told({ ...first?.note }, late)
    assert.equal(openAgainAt(known, late), [new Date(laterMs + OPEN_AGAIN_MS).toISOString()])
    assert.equal(whose(app, known, new Date(laterMs + OPEN_AGAIN_MS - 1)), [])
    assert.equal(whose(app, known, new Date(laterMs + OPEN_AGAIN_MS)), [['other']])
  })

  t('is told once, and only where something waits for it', () => {
    const note = (change: Partial<Note>) => toldNote(world(change), NOW)
    assert.equal(note({ again: ['link'], at: null }), { ...LET_IN, again: ['link'], at: NOW.toISOString() })
    assert.equal([note({ at: null }), note({ again: ['link'] }), toldNote(world(null), NOW)], [null, null, null])
    assert.is(toldNote({ route: null }, NOW), null)
  })

  const pastDue = new Date(NOW.getTime() - 60_000).toISOString()

  t('cuts nobody a second time once the app is open to all', () => {
    const app = shut({ access: 'public' })
    for (const at of [pastDue, AT, null]) {
      const [opened, ...more] = ended(app, world({ again: ['other'], at }))
      assert.equal([opened?.whose, opened?.note.again, more], [[], [], []])
    }
    // A row of before may say otherwise.
    const kept = world({ access: 'public', again: ['other'], at: pastDue })
    assert.equal([whose(app, kept), openAgainAt(kept, NOW)], [[], []])
  })

  t('is not looked at sooner for it while its host cannot be reached', () => {
    const away = world({ again: ['other'], at: pastDue }, { unreachable: 'away' })
    assert.equal([whose(shut(), away), openAgainAt(away, NOW)], [[], []])
    assert.equal(openAgainAt({ ...away, unreachable: null }, NOW).length, 1)
  })

  t('of one sort does not put off the second time of the other', () => {
    const at = new Date(NOW.getTime() - OPEN_AGAIN_MS).toISOString()
    const [step] = ended(shut({ passwordVersion: 2 }), world({ password: 2, again: ['other'], at }, { linksEnded: 1 }))
    assert.equal([step?.whose.toSorted(), step?.note.again], [['link', 'other'], ['link']])
  })
})
