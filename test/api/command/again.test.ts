/** The same asked again by whoever lost the answer: it is done once, and whoever means it again is not refused. */
import { generateKeyPairSync } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json, order } from '../../support/stage/invoicing.ts'
import { startTableStage } from './rows/stage.ts'

const ALL = '/api/invoices'
/** For a request to arrive, and wait. */
const ARRIVED_MS = 1_000

let stage: Awaited<ReturnType<typeof startTableStage>>

const read = async (id: string): Promise<Json> => (await stage.ask(stage.owner, 'GET', `${ALL}/${id}`)).json.invoice
const make = async (change: Record<string, unknown> = {}): Promise<string> => {
  const { status, json, text } = await stage.ask(stage.owner, 'POST', ALL, order(change))
  assert.ok(status === 201 || status === 202, text)
  await eventually('it to be taken in', async () => (await read(json.invoice.id)).delivery !== undefined)
  return json.invoice.id
}
const send = (id: string, headers: Record<string, string> = {}) =>
  stage.ask(stage.owner, 'POST', `${ALL}/${id}/send`, undefined, headers)
const sends = async (id: string): Promise<number> => (await read(id)).send_count

/** Asks to send while nobody decides, and is gone before there is an answer. */
const sendAndLeave = async (id: string): Promise<void> => {
  const before = await sends(id)
  await stage.platform.controllers.stop()
  const asked = request(`${stage.platform.baseUrl}${ALL}/${id}/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.owner}` },
  })
  asked.on('error', () => undefined).end()
  await sleep(ARRIVED_MS)
  asked.destroy()
  await stage.platform.controllers.start()
  await eventually('the send', async () => (await sends(id)) === before + 1)
}

spec('asked again', (t) => {
  t.before(
    async () => {
      stage = await startTableStage()
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => stage?.end())

  for (const [what, change, count] of [
    ['of a draft', { send: false }, 1],
    ['once more', {}, 2],
  ] as const) {
    t(
      `a send ${what} whose client left before any answer is the first; a later one, and one with a key, is another`,
      async () => {
        const id = await make(change)
        if (count === 2) await eventually('the first send', async () => (await sends(id)) === 1)
        await sendAndLeave(id)
        const known = 'select id from operations where path = $1 order by created_at desc limit 1'
        const [operation] = await eventually('what became of it', async () => {
          const rows = await query(stage.platform.database.url, known, [`${ALL}/${id}/send`])
          return rows.length > 0 && rows
        })
        // on a machine that has much to do the bound may be over by now
        const move = (seconds: number) =>
          query(
            stage.platform.database.url,
            "update operations set created_at = now() - $2 * interval '1 second' where id = $1",
            [operation?.id, seconds],
          )
        await move(0)
        const again = await send(id)
        assert.equal(
          [again.status, again.json.replayed, again.json.operation_id],
          [202, true, operation?.id],
          again.text,
        )
        const verdict = await stage.ask(stage.owner, 'GET', `/api/operations/${operation?.id}`)
        assert.equal(
          [verdict.json.operation.state, verdict.json.operation.result.number],
          ['succeeded', (await read(id)).number],
        )
        assert.is(await sends(id), count)
        const keyed = await send(id, { 'idempotency-key': `meant-${id}` })
        assert.equal([keyed.status < 300, keyed.json.replayed], [true, undefined], keyed.text)
        await eventually('the one with a key', async () => (await sends(id)) === count + 1)
        await query(
          stage.platform.database.url,
          "update operations set created_at = now() - interval '1 minute' where path = $1",
          [`${ALL}/${id}/send`],
        )
        const later = await send(id)
        assert.equal([later.status < 300, later.json.replayed], [true, undefined], later.text)
        await eventually('the later one', async () => (await sends(id)) === count + 2)
      },
      { timeoutMs: 240_000 },
    )
  }

  t('the key of a host is another one when it is another, and not when it is repeated', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = (key: typeof privateKey) => key.export({ type: 'pkcs1', format: 'pem' })
    const path = '/api/apps/hosts/away'
    const patch = async (private_key: unknown): Promise<number[]> => {
      const { status, text } = await stage.ask(stage.admin, 'PATCH', path, { private_key }, { prefer: 'respond-async' })
      assert.ok(status === 200 || status === 202, text)
      const { spec } = JSON.parse(await stage.platform.kubectl(['get', 'bhost', 'away', '-o', 'json']))
      const rows = await query(
        stage.platform.database.url,
        "select version from host_credentials where host = 'away' order by version",
      )
      return [spec.credentialVersion, ...rows.map(({ version }) => Number(version))]
    }
    const [first, ...kept] = await patch(pem(privateKey))
    assert.equal(kept, [first])
    assert.equal(await patch(pem(privateKey)), [first, first])
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    assert.equal(await patch(pem(other)), [(first ?? 0) + 1, first, (first ?? 0) + 1])
  })
})
