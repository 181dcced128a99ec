import { existsSync, globSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identityOf } from '../../../hack/lib/files.ts'
import { findOwned } from '../../../hack/lib/processes.ts'
import { caches, type UpEnvironment } from '../../../hack/lib/state.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { kubectlFor } from '../../support/stage/stage.ts'
import { makeOwnUp } from './ownup.ts'

spec('hack/up and hack/down', (t) => {
  const { stateDir, owner, command, environment, end } = makeOwnUp()
  t.after(end)

  const mails = () => globSync('*.eml', { cwd: join(stateDir, 'mail') }).length
  const invoices = async ({ baseUrl, tokens }: UpEnvironment) => {
    const headers = { authorization: `Bearer ${tokens.owner}` }
    const response = await fetch(`${baseUrl}/api/invoices`, { headers })
    assert.is(response.status, 200)
    const list: { total: number; invoices: { number: string }[] } = JSON.parse(await response.text())
    return list
  }

  t(
    'the whole life: up, found again, a process killed, the supervisor killed, down, up with the same data',
    async () => {
      const first = await command('up', '--detach')
      assert.is(first.code, 0, first.output)
      assert.match(first.output, /INV-\d{3}-0001/)
      const before = environment()
      assert.is((await invoices(before)).total, 1)

      const again = await command('up', '--detach')
      assert.is(again.code, 0, again.output)
      assert.match(again.output, /was running already/)
      assert.is((await invoices(before)).total, 1)

      process.kill(before.apiPid, 'SIGKILL')
      await until(() => existsSync(join(stateDir, 'env.json')) && environment().apiPid !== before.apiPid)
      assert.is((await invoices(environment())).total, 1)

      process.kill(environment().supervisorPid, 'SIGKILL')
      const rescued = await command('up', '--detach')
      assert.is(rescued.code, 0, rescued.output)
      assert.is(environment().baseUrl, before.baseUrl)

      const down = await command('down')
      assert.is(down.code, 0, down.output)
      assert.equal(findOwned(owner()), [])
      assert.not(existsSync(join(stateDir, 'env.json')))
      assert.equal(globSync(`/tmp/bottega-etcd-${identityOf(join(stateDir, 'control-plane'))}`), [])

      const kept = await command('up', '--detach')
      assert.is(kept.code, 0, kept.output)
      assert.is((await invoices(environment())).total, 1)
      assert.equal(environment().tokens, before.tokens)
      assert.is(mails(), 1, 'one invoice was sent, so one mail')

      // The demo tokens belong to their accounts, which may rotate them: then the next start hands out new ones.
      const { baseUrl, tokens } = environment()
      const headers = { authorization: `Bearer ${tokens.other}`, 'content-type': 'application/json' }
      const id = tokens.other.split('_')[1]
      const rotated = await fetch(`${baseUrl}/api/auth/tokens/${id}/rotate`, { method: 'POST', headers, body: '{}' })
      assert.is(rotated.status, 200)
      await command('down')
      const anew = await command('up', '--detach')
      assert.is(anew.code, 0, anew.output)
      assert.is.not(environment().tokens.other, tokens.other)
      assert.is((await invoices(environment())).total, 1)
    },
    { timeoutMs: 600_000 },
  )

  t(
    'the two processes are no cluster admins',
    async () => {
      for (const name of ['controllers', 'api']) {
        const kubectl = kubectlFor(join(stateDir, `${name}.kubeconfig`))
        await assert.rejects(kubectl(['get', 'secrets', '-A']))
        await assert.rejects(kubectl(['create', 'namespace', 'forbidden']))
      }
    },
    { timeoutMs: 60_000 },
  )

  t(
    'purge leaves no trace but what is built from the sources',
    async () => {
      const mark = owner()
      const down = await command('down', '--purge')
      assert.is(down.code, 0, down.output)
      assert.equal(findOwned(mark), [])
      const kept = caches.map((path) => basename(path))
      assert.equal(
        readdirSync(stateDir).filter((name) => !kept.includes(name)),
        [],
      )
    },
    { timeoutMs: 120_000 },
  )
})

async function until(check: () => boolean): Promise<void> {
  while (!check()) await sleep(100)
}
