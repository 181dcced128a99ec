import { query } from '../../../hack/platform/postgres.ts'
import { backdate } from '../../support/devbox/ageing.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, mailsIn, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** What was committed and what was spent, over REST (rules/devinstance.md#costs), and the prices of a region. */

spec('the costs of dev instances', (t) => {
  let platform: Platform
  let box: Provisioner
  const tokens: Record<string, string> = {}
  const ask = (of: string, path: string) => call(platform.baseUrl, tokens[of] ?? null, 'GET', `/api/devboxes${path}`)
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)

  t.before(
    async () => {
      platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
      const capabilities = ['devbox.manage']
      tokens.owner = await addAccount(platform, 'boxer', { capabilities })
      tokens.admin = await addAccount(platform, 'root', { capabilities, role: 'admin' })
      tokens.stranger = await addAccount(platform, 'stranger', { capabilities })
      await setCap(platform, { account: 'boxer', token: tokens.owner }, 5_000)
      box = makeProvisioner(platform, tokens.owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => platform.end())

  t(
    'are told by month, owner and state, to the owner and to admins, of deleted ones too',
    async () => {
      const running = await box.toRunning({ sizeClass: 'S' })
      const gone = await box.toReady({ sizeClass: 'XS' })
      await box.on(gone.id, 'POST', 'stopped', { version: gone.version })
      const { version } = await box.detail(gone.id)
      await box.on(gone.id, 'POST', 'terminated', { version, instanceGone: true, eipGone: true, volumesGone: true })
      assert.is((await box.on(gone.id, 'DELETE', '')).status, 200)
      await backdate(platform.database.url, running.id, 10)

      const own = (await ask('owner', '/costs')).json
      const ran = own.costs.filter(({ state }: Json) => state === 'running')
      const sum = (of: string) => ran.reduce((all: number, row: Json) => all + Math.round(row[of] * 100), 0)
      // 240 hours of S, in one month or over the end of one: 56.706 x 240 / 730 = 18.64
      assert.ok(Math.abs(sum('hours') - 24_000) <= 10, `${sum('hours')}`)
      assert.ok(
        Math.abs(sum('actualUsd') - 1_864) <= 2 && sum('actualUsd') === sum('committedUsd'),
        JSON.stringify(ran),
      )
      assert.ok(own.costs.every(({ owner }: Json) => owner === 'boxer'))
      const states = new Set(own.costs.map(({ state }: Json) => state))
      assert.ok(states.has('stopped'), 'the deleted one has its part')
      assert.equal(own.present, [
        { owner: 'boxer', state: 'running', instances: 1, committedMonthlyUsd: 56.71, currentMonthlyUsd: 56.71 },
      ])
      const { committedMonthlyUsd } = (await ask('owner', '')).json
      assert.is(committedMonthlyUsd, 56.71, 'as the list says')

      const all = (await ask('admin', '/costs')).json
      assert.equal(all.present, own.present)
      assert.equal((await ask('admin', '/costs?owner=root')).json.costs, [])
      assert.equal((await ask('stranger', '/costs')).json.totals, [])
    },
    { timeoutMs: 120_000 },
  )

  t('refuse another owner, and months that are none', async () => {
    const codes = await Promise.all(
      [
        ask('stranger', '/costs?owner=boxer'),
        ask('owner', '/costs?from=2026-13'),
        ask('owner', '/costs?from=2020-01&to=2026-01'),
        ask('owner', '/costs?month=2026-01'),
      ].map(async (reply) => `${(await reply).status} ${(await reply).json.code}`),
    )
    assert.equal(codes, ['403 FORBIDDEN', '400 INVALID_FIELD', '400 INVALID_FIELD', '400 UNKNOWN_PARAMETER'])
    const mine = await ask('owner', '/costs?owner=boxer')
    assert.is(mine.status, 200)
  })

  t('are another price in another region, and none where nobody has reviewed it', async () => {
    const home = (await ask('owner', '/sizes')).json
    const away = (await ask('owner', '/sizes?region=eu-central-1')).json
    assert.equal([home.region, home.sizes[0].runningMonthlyUsd], ['us-east-1', 30.58])
    assert.equal([away.region, away.sizes[0].runningMonthlyUsd], ['eu-central-1', 34.54])
    const none = await ask('owner', '/sizes?region=ap-southeast-2')
    assert.equal([none.status, none.json.code, none.json.errors[0].pointer], [422, 'REGION_NOT_PRICED', '/region'])
    assert.match(none.text, /eu-central-1, us-east-1/)
    assert.is((await ask('owner', '/sizes?region=Frankfurt')).status, 400)
  })

  t(
    'are told to their owner at 50, 80 and 100 % of the cap, once a month each: on record, as an event, and by one mail',
    async () => {
      const spender = await addAccount(platform, 'spender', { capabilities: ['devbox.manage'] })
      tokens.spender = spender
      const cap = (usd: number) => setCap(platform, { account: 'spender', token: spender }, usd)
      const advance = async (duration: string): Promise<void> => {
        const moved = await call(platform.baseUrl, tokens.admin ?? '', 'POST', '/api/dev/clock', { advance: duration })
        assert.is(moved.status, 200, moved.text)
      }
      const told = async () => {
        const facts = await sql(
          "select key from facts where resource = 'spender' and kind = 'devbox-budget' order by seq",
        )
        const mails = await sql(
          "select purpose from outbox where resource = 'spender' and channel = 'mail' order by created_at, purpose",
        )
        const { events } = (await call(platform.baseUrl, spender, 'GET', '/api/events?after=0')).json
        return {
          facts: facts.map(({ key }) => String(key).split(':').at(-1)),
          mails: mails.map(({ purpose }) => String(purpose).split(':').at(-1)),
          events: events
            .filter(({ type }: Json) => type === 'devbox.budget_reached')
            .map(({ data }: Json) => data.budget.thresholdPercent),
        }
      }
      /** Events are spread by themselves. */
      const toldAs = (wanted: object) =>
        eventually(JSON.stringify(wanted), async () => JSON.stringify(await told()) === JSON.stringify(wanted))
      await cap(5_000)
      const now = new Date((await call(platform.baseUrl, tokens.admin ?? '', 'GET', '/api/dev/clock')).json.now)
      const second = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2)
      await advance(`PT${Math.ceil((second - now.getTime()) / 60_000)}M`)
      await makeProvisioner(platform, spender).toRunning({ sizeClass: 'XL' })
      assert.equal(await told(), { facts: [], mails: [], events: [] })

      // XL on arm64 is 504.19 USD for 730 hours: 165.76 in ten days
      await cap(300)
      await advance('P10D')
      const first = { facts: ['50'], mails: ['50'], events: [50] }
      await toldAs(first)
      await advance('P1D')
      assert.equal(await told(), first, 'once')
      await cap(180)
      await advance('PT1H')
      // of two at once the higher is mailed
      const all = { facts: ['50', '80', '100'], mails: ['50', '100'], events: [50, 80, 100] }
      await toldAs(all)
      await advance('PT1H')
      assert.equal(await told(), all)

      const [forecast] = (await ask('spender', '/costs')).json.forecast
      assert.equal([forecast.owner, forecast.capUsd, forecast.spentPercent], ['spender', 180, 102])
      assert.ok(forecast.forecastUsd > 450 && forecast.spentUsd < 185, JSON.stringify(forecast))
      const letters = await eventually('the mails', async () => {
        const found = (await mailsIn(platform.mailDir)).filter(({ to }) => JSON.stringify(to).includes('spender@'))
        return found.length === 2 && found
      })
      assert.match(
        letters.map(({ subject }) => subject).join('; '),
        /spent 50 % of the cap.*spent 100 % of the cap|spent 100 %.*spent 50 %/,
      )
      const everybody = (await ask('admin', '/costs')).json.forecast
      assert.ok(everybody.length > 1 && everybody.every(({ capUsd }: Json) => capUsd === null))
    },
    { timeoutMs: 180_000 },
  )
})
