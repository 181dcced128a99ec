import { setTimeout as sleep } from 'node:timers/promises'
import { openEvents, openWebSocket, type Stream, streaming } from '../../../support/doubles/streams.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/** What is open at an app ends when who opened it would be refused; what others opened goes on (rules/app.md#what-is-open). */

const timeoutMs = 180_000
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** From the answer of the change on; the plain run shares its machine. */
const CUT_MS = isFull ? 2_000 : 60_000
/** After which whoever came back in between is out again. */
const SETTLED_MS = isFull ? 4_000 : 12_000

spec('what is open at an app', (t) => {
  let stage: AppStage
  let app: Json
  let beside: Stream[]
  const cookieOf = (headers: Json): string => String(headers['set-cookie']).split(';')[0] ?? ''
  const signIn = async (password: string): Promise<string> => {
    const form = {
      method: 'POST',
      body: new URLSearchParams({ password, next: '/' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
    return eventually('to be signed in', async () => {
      const { status, headers } = await stage.visit('severed', '/_bottega/access', form)
      return status === 303 && cookieOf(headers)
    })
  }
  const link = async (): Promise<{ id: string; cookie: string }> => {
    const { json } = await stage.api('POST', `/api/apps/${app.id}/access-links`, {})
    const { id, path } = json.access_link
    return { id, cookie: cookieOf((await stage.visit('severed', path, { headers: { accept: 'text/html' } })).headers) }
  }
  const openBoth = async (slug: string, cookie = ''): Promise<Stream[]> => {
    const headers: Record<string, string> = cookie === '' ? {} : { cookie }
    return [await openWebSocket(stage.host, slug, headers), await openEvents(stage.host, slug, headers)]
  }
  const change = async (body: object): Promise<void> => {
    const reply = await stage.api('PATCH', `/api/apps/${app.id}`, body)
    assert.is(reply.status, 200, reply.text)
  }
  const isCut = (streams: readonly Stream[]) => streams.map(({ what, cut }) => [what, cut() !== null])
  const all = (streams: readonly Stream[], isEnded: boolean) => streams.map(({ what }) => [what, isEnded])
  /** All of them, within the bound. */
  const cutAfter = async (streams: readonly Stream[], begunMs: number): Promise<void> => {
    const isOver = async () => streams.every(({ cut }) => cut() !== null)
    await eventually('what is open to be cut', isOver, 60_000).catch(() => {})
    assert.equal(isCut(streams), all(streams, true))
    const tookMs = performance.now() - begunMs
    console.log(`  cut after ${Math.round(tookMs)} ms`)
    assert.ok(tookMs <= CUT_MS, `cut after ${tookMs} ms`)
  }
  /** Comes back whenever it is cut, as pages do, until it is refused. */
  const stubborn = (cookie: string) => {
    let present: Stream | null = null
    let isOver = false
    const live = async () => {
      while (!isOver) {
        present = await openWebSocket(stage.host, 'severed', { cookie }).catch(() => null)
        while (present?.cut() === null && !isOver) await sleep(20)
        await sleep(20)
      }
    }
    const living = live()
    return {
      isIn: () => present !== null && present.cut() === null,
      end: async () => {
        isOver = true
        await living
      },
    }
  }

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('severed')
    for (const { id } of [app, await stage.app('unsevered')]) {
      const { json, text } = await stage.deploy(id, streaming('v1'))
      assert.is(json.operation.state, 'succeeded', text)
    }
    beside = await openBoth('unsevered')
  })
  t.after(() => stage?.end())

  t(
    'ends when the app turns private, and no other app notices',
    async () => {
      const streams = await openBoth('severed')
      const begunMs = performance.now()
      await change({ access: 'private', password: 'the first password' })
      await cutAfter(streams, begunMs)
      assert.equal(isCut(beside), all(beside, false))
    },
    { timeoutMs },
  )

  t(
    'ends with the password that opened it, and goes on where a link did',
    async () => {
      const old = await signIn('the first password')
      const kept = await link()
      const byLink = await openBoth('severed', kept.cookie)
      const byPassword = await openBoth('severed', old)
      const page = stubborn(old)
      await eventually('the page to be in', async () => page.isIn())
      const begunMs = performance.now()
      await change({ password: 'the second password' })
      await cutAfter(byPassword, begunMs)
      await sleep(SETTLED_MS)
      assert.is(page.isIn(), false, 'who came back at once is out')
      await page.end()
      assert.equal(isCut(byLink), all(byLink, false))
      const renewed = await openBoth('severed', await signIn('the second password'))
      await sleep(SETTLED_MS)
      assert.equal(isCut([...renewed, ...byLink, ...beside]), all([...renewed, ...byLink, ...beside], false))
      await Promise.all([...renewed, ...byLink].map((stream) => stream.finish()))
    },
    { timeoutMs },
  )

  t(
    'ends with the link that opened it, event streams too, and goes on where the password did',
    async () => {
      const [byPassword, { id, cookie }] = [
        await openBoth('severed', await signIn('the second password')),
        await link(),
      ]
      const byLink = await openBoth('severed', cookie)
      const page = stubborn(cookie)
      await eventually('the page to be in', async () => page.isIn())
      const begunMs = performance.now()
      assert.is((await stage.api('DELETE', `/api/apps/${app.id}/access-links/${id}`)).status, 204)
      await cutAfter(byLink, begunMs)
      await sleep(SETTLED_MS)
      assert.is(page.isIn(), false, 'who came back at once is out')
      await page.end()
      assert.equal(isCut(byPassword), all(byPassword, false))
      await Promise.all(byPassword.map((stream) => stream.finish()))
    },
    { timeoutMs },
  )

  t('goes on when the app is opened to all', async () => {
    const streams = await openBoth('severed', await signIn('the second password'))
    await change({ access: 'public' })
    await eventually('it to be open', async () => (await stage.visit('severed')).status === 200)
    await sleep(SETTLED_MS)
    assert.equal(isCut([...streams, ...beside]), all([...streams, ...beside], false))
    await Promise.all([...streams, ...beside].map((stream) => stream.finish()))
  })
})
