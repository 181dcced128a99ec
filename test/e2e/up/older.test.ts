/** `hack/up` on data that do not fit together: it comes up, serves what is kept, and prints the command that mends it. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, order, type Reply } from '../../support/stage/invoicing.ts'
import { makeOwnUp } from './ownup.ts'

spec('hack/up on an older copy of its database', (t) => {
  const { stateDir, command, environment, end } = makeOwnUp()
  t.after(end)

  const folders = { pg: join(stateDir, 'pg'), copy: join(stateDir, 'pg-copy') }
  const mails = () => globSync('*.eml', { cwd: join(stateDir, 'mail') }).length
  const ask = (method: string, path: string, body?: unknown): Promise<Reply> => {
    const { baseUrl, tokens } = environment()
    return call(baseUrl, tokens.owner, method, path, body)
  }
  const numbers = async (): Promise<string[]> => {
    const { status, json, text } = await ask('GET', '/api/invoices')
    assert.is(status, 200, text)
    return json.invoices.map(({ number }: Json) => number).sort()
  }
  const run = async (name: string, ...args: string[]): Promise<string> => {
    const { code, output } = await command(name, ...args)
    assert.is(code, 0, output)
    return output
  }
  /** With its owner, who may be the user postgres. */
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

  t(
    'comes up, serves reads, names the command; nothing is sent until that was used, and then it leads',
    async () => {
      const [, first = ''] = /first invoice {2}(\S+)/.exec(await run('up', '--detach')) ?? []
      assert.match(first, /-0001$/)
      await run('down')
      copy(folders.pg, folders.copy)
      await run('up', '--detach')
      const sent = await ask('POST', '/api/invoices', order({ external_ref: 'since' }))
      assert.is(sent.status, 201, sent.text)
      await eventually('its mail', async () => mails() === 2)
      await run('down')
      rmSync(folders.pg, { recursive: true })
      copy(folders.copy, folders.pg)

      const wrong = await run('up', '--detach')
      assert.match(wrong, 'What was kept does not fit together; reads are served')
      assert.match(wrong, /^ {2}LEDGER_BEHIND: .*1 resources know of more than the database/m)
      assert.match(wrong, /what would be done about it: hack\/reconcile --plan$/m)
      assert.not.match(wrong, /first invoice {2}\S/)
      assert.ok(existsSync(join(stateDir, 'env.json')))
      assert.ok((await numbers()).includes(first))
      const refused = await eventually('writes to be refused', async () => {
        const reply = await ask('POST', '/api/invoices', order({ external_ref: 'meanwhile' }))
        return reply.status === 503 && reply
      })
      assert.is(refused.json.code, 'LEDGER_BEHIND')
      const again = await run('up', '--detach')
      for (const said of ['  LEDGER_BEHIND: ', 'hack/reconcile --plan\n', 'It was running already'])
        assert.match(again, said)

      const plan = await run('reconcile', '--plan')
      assert.match(plan, `give back ${sent.json.number} to the resources that have them`)
      assert.is(mails(), 2, 'nobody was mailed')
      await run('reconcile', '--apply')
      const next = await eventually('it to lead', async () => {
        const reply = await ask('POST', '/api/invoices', order({ external_ref: 'meanwhile' }))
        return reply.status < 300 && reply.json.number
      })
      assert.match(next, /-0003$/)
      assert.equal(await numbers(), [first, sent.json.number, next])
      await eventually('its mail', async () => mails() === 3)
      assert.match(await run('up', '--detach'), `first invoice  ${first}`)
    },
    { timeoutMs: 900_000 },
  )
})
