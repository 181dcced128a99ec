import { DeadlineExceeded, StaleEpoch, Stalled, Waiting } from '../../../controllers/base/errors.ts'
import { endOpen, noteTold } from '../../../controllers/kinds/app/acts/live.ts'
import type { LetInNote } from '../../../crds/app/lifecycle/publishing/letin.ts'
import { AT, anApp, aWorld, NOW } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What is kept of a host that cannot end what is open: no kernel here is without it, so the host's answer is out of hand. */

const NOTE: LetInNote = { access: 'private', password: 2, links: 0, again: ['other'], at: AT }
const PLACES = ['local/127.0.0.1:30001']
const WHY = 'the kernel ends no connections (CONFIG_INET_DIAG_DESTROY)'

const ended = async (
  answer: { code: number; stderr: string } | Error,
  note = NOTE,
  hostClass = 'shared',
  account: string | null = null,
) => {
  const kept: LetInNote[] = []
  const context = {
    hosts: {
      link: () => ({ run: async () => (answer instanceof Error ? Promise.reject(answer) : answer) }),
      facts: () => ({ class: hostClass, account }),
    },
    ledger: { noteLetIn: async (_app: string, letIn: LetInNote) => kept.push(letIn) },
    now: () => NOW,
  } as unknown as Parameters<typeof endOpen>[0]
  const apply = await endOpen(context, anApp(), { do: 'endOpen', whose: ['other'], note, places: PLACES, left: [] })
  const world = apply?.({ ...aWorld(), route: { digest: 'd', address: '127.0.0.1:30001' } })
  assert.equal(world?.route?.letIn, kept[0], 'the world is what was kept')
  return kept[0]
}

spec('what is kept of a host', (t) => {
  const stays = { whose: ['other' as const], since: NOW.toISOString(), why: WHY, places: PLACES }

  t('that cannot end what is open is why, since when and where, and it is not tried again', async () => {
    const stderr = `Warning: something else\n${WHY}\n`
    assert.equal(await ended({ code: 3, stderr }), { ...NOTE, again: [], stays })
  })
  t('that has no guard and need not have one is the same, also where nothing was said', async () => {
    const known = await ended({ code: 1, stderr: '\n' }, NOTE, 'platform', 'demo')
    assert.equal(known?.stays, { ...stays, why: 'it ended with 1' })
  })
  t('that has no guard and is for everybody is tried again, of whatever class', async () => {
    const known = await ended({ code: 1, stderr: '\n' }, NOTE, 'platform')
    assert.equal(known?.again, ['other'])
  })
  t('that can do it again is no more than that it was done', async () => {
    assert.equal(await ended({ code: 0, stderr: '' }, { ...NOTE, stays }), NOTE)
  })
  t('that failed otherwise is the same and that it is tried again, and holds up nothing else', async () => {
    const known = await ended({ code: 1, stderr: 'No such container' }, { ...NOTE, again: ['link'] })
    assert.equal(known, {
      ...NOTE,
      again: ['link', 'other'],
      at: null,
      tries: 1,
      stays: { ...stays, why: 'No such container' },
    })
  })
})

spec('what is open at a host', (t) => {
  t('that does not answer in time is put off, and holds up nothing else', async () => {
    for (const hostClass of ['shared', 'platform']) {
      const known = await ended(new DeadlineExceeded('ssh app-switch-end-open on local', 15_000), NOTE, hostClass)
      assert.equal([known?.again, known?.at, known?.tries], [['other'], null, 1])
      assert.match(known?.stays?.why ?? '', /within 15 s/)
    }
  })
  t('that cannot be reached waits for that', async () => {
    const away = await ended(new Waiting('HostUnreachable', 'away')).catch((error) => error)
    assert.ok(away instanceof Waiting)
  })
})

spec('what is open at a host that the app has left', (t) => {
  const LEFT = 'before/127.0.0.1:30001'
  type Said = { code: number; stderr: string } | Error
  const done = { code: 0, stderr: '' }
  const both = async (home: Said, left: Said) => {
    const kept: LetInNote[] = []
    const asked: [string, string | undefined][] = []
    const link = (host: string) => ({
      run: async ({ lines }: { lines: string[] }) => {
        asked.push([host, lines[0]])
        const said = host === 'before' ? left : home
        return said instanceof Error ? Promise.reject(said) : said
      },
    })
    const context = {
      hosts: { link, facts: () => ({ class: 'shared' }) },
      ledger: { noteLetIn: async (_app: string, letIn: LetInNote) => kept.push(letIn) },
      now: () => NOW,
    } as unknown as Parameters<typeof endOpen>[0]
    const app = anApp()
    const places = [`${app.spec.hostId}/127.0.0.1:30002`, LEFT]
    await endOpen(context, app, {
      do: 'endOpen',
      whose: ['other'],
      note: { ...NOTE, tries: 2 },
      places,
      left: ['before'],
    })
    assert.equal(asked, [
      [app.spec.hostId, app.spec.slug],
      ['before', app.spec.slug],
    ])
    return kept[0]
  }

  t('is ended there, too', async () => {
    assert.equal(await both(done, done), NOTE)
  })
  for (const [what, left] of [
    ['could not end it', { code: 3, stderr: WHY }],
    ['failed at it', { code: 1, stderr: WHY }],
    ['cannot be reached', new Waiting('HostUnreachable', WHY)],
    ['may not be touched', new Stalled('HOST_NOT_APPROVED', WHY)],
  ] as const) {
    t(`is on record where that host ${what}, and holds up nothing`, async () => {
      const stays = { whose: ['other' as const], since: NOW.toISOString(), places: [LEFT] }
      assert.equal(await both(done, left), { ...NOTE, stays: { ...stays, why: `before: ${WHY}` } })
    })
  }
  t('may stay open at both', async () => {
    const known = await both({ code: 1, stderr: 'away' }, new DeadlineExceeded('ssh', 1))
    assert.equal(
      [known?.stays?.places, known?.stays?.why, known?.again, known?.tries],
      [[LEFT, 'local/127.0.0.1:30002'], 'away', ['other'], 3],
    )
  })
  t('is nothing for who leads no more', async () => {
    const stale = await both(done, new StaleEpoch('2 leads')).catch((error) => error)
    assert.ok(stale instanceof StaleEpoch)
  })
})

spec('since when nobody else is let in', (t) => {
  const told = async (letIn: LetInNote | null, failure: Error | null = null) => {
    const kept: LetInNote[] = []
    const warned: string[] = []
    const noteLetIn = async (_app: string, note: LetInNote) => {
      if (failure) throw failure
      kept.push(note)
    }
    const context = {
      ledger: { noteLetIn },
      now: () => NOW,
      log: { warn: (_: object, what: string) => warned.push(what) },
    }
    const world = { route: { digest: 'd', address: '127.0.0.1:30001', letIn } }
    await noteTold(context as unknown as Parameters<typeof noteTold>[0], 'app-1', world)
    return { kept, warned: warned.length }
  }
  const untold: LetInNote = { ...NOTE, at: null }

  t('is kept once the mirror is written, where something waits for it', async () => {
    assert.equal(await told(untold), { kept: [{ ...NOTE, at: NOW.toISOString() }], warned: 0 })
  })
  t('is not written where nothing waits for it, or it stands already', async () => {
    for (const letIn of [null, NOTE, { ...untold, again: [] }]) assert.equal(await told(letIn), { kept: [], warned: 0 })
  })
  t('fails no pass where it could not be kept, unless somebody else leads', async () => {
    assert.equal(await told(untold, new Error('away')), { kept: [], warned: 1 })
    const stale = await told(untold, new StaleEpoch('2 leads')).catch((error) => error)
    assert.ok(stale instanceof StaleEpoch)
  })
})
