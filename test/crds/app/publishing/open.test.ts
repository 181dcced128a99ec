import { OPEN_AGAIN_MS } from '../../../../crds/app/lifecycle/publishing/open.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { AT, aLook, anApp, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const LET_IN = { access: 'private', password: 1, links: 0, again: [], at: AT } as const
type Note = {
  at: string
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
    [
      'a link is over that nobody has to have',
      shut({ access: 'public' }),
      { access: 'public' },
      { linksEnded: 1 },
      [[]],
    ],
    ['it cannot be reached', shut({ passwordVersion: 2 }), {}, { unreachable: 'away' }, []],
  ]
  for (const [what, app, note, change, expected] of cases) {
    t(`ends for ${expected.flat().join(' and ') || 'nobody'} when ${what}`, () => {
      assert.equal(whose(app, world(note, change)), expected)
    })
  }

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
    assert.equal(first?.note, { ...LET_IN, password: 2, again: ['other'], at: NOW.toISOString() })
    const after = world({ ...first?.note } as Partial<Note>)
    const plan = planApp(app, after, NOW)
    const dueMs = NOW.getTime() + OPEN_AGAIN_MS
    assert.equal([whose(app, after), plan.wakeAt], [[], new Date(dueMs).toISOString()])
    const [second] = ended(app, after, new Date(dueMs))
    assert.equal([second?.whose, second?.note.again], [['other'], []])
    assert.equal(whose(app, world({ ...second?.note } as Partial<Note>), new Date(dueMs)), [])
  })

  t('of one sort does not put off the second time of the other', () => {
    const at = new Date(NOW.getTime() - OPEN_AGAIN_MS).toISOString()
    const [step] = ended(shut({ passwordVersion: 2 }), world({ password: 2, again: ['other'], at }, { linksEnded: 1 }))
    assert.equal([step?.whose.toSorted(), step?.note.again], [['link', 'other'], ['link']])
  })
})
