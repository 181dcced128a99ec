import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeadlineExceeded, StaleEpoch } from '../../../controllers/base/errors.ts'
import { HostKeyChanged, HostNotApproved, HostUnreachable } from '../../../controllers/io/hosts/hosterrors.ts'
import type { RemoteScript } from '../../../controllers/io/hosts/hosts.ts'
import { OutputTooLarge } from '../../../controllers/io/hosts/remote.ts'
import { fingerprintOf } from '../../../crds/host/key.ts'
import { until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../support/stage/host.ts'

const ECHO: RemoteScript = {
  name: 'echo',
  text: `IFS= read -r a && IFS= read -r b && printf '%s|%s|' "$a" "$b" && cat`,
}
const SLEEP: RemoteScript = { name: 'sleep', text: 'IFS= read -r seconds; sleep "$seconds"; echo slept' }
/** Says that it has begun, and ends when it may, by two files at home. */
const HELD: RemoteScript = {
  name: 'held',
  text: 'IFS= read -r of; : > "begun-$of"; while [ ! -e "end-$of" ]; do sleep 0.1; done; echo slept',
}
const deadlineMs = 60_000

const rejection = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it succeeded',
    (error) => error,
  )

spec('a link to a host', (t) => {
  let host: AppHost
  let open: TestHosts
  const link = () => open.hosts.link(HOST_NAME)
  const atHome = (name: string): string => join(host.account.home, name)
  const begun = (of: string): Promise<void> => until(`${of} to begin`, () => existsSync(atHome(`begun-${of}`)))
  const end = (of: string): void => writeFileSync(atHome(`end-${of}`), '')

  t.before(async () => {
    host = await startAppHost()
    open = await openHosts(host)
  })
  t.after(async () => {
    await open.end()
    await host.end()
  })

  t('runs a fixed script with lines and a body on stdin', async () => {
    const hostile = `$(touch /tmp/x); 'a' "b" \`c\` \\`
    const { code, stdout } = await link().run({
      script: ECHO,
      lines: [hostile, ' two '],
      body: Buffer.from('three\n'),
      deadlineMs,
    })
    assert.is(code, 0)
    assert.is(stdout.toString(), `${hostile}| two |three\n`)
  })

  t("gives the script's exit code and what it complained of", async () => {
    const script = { name: 'fail', text: 'echo so >&2; exit 7' }
    const { code, stderr } = await link().run({ script, deadlineMs })
    assert.is(code, 7)
    assert.is(stderr, 'so\n')
  })

  t('ends a command at its deadline, on the host too', async () => {
    const error = await rejection(link().run({ script: SLEEP, lines: ['77.5'], deadlineMs: 1_000 }))
    assert.instance(error, DeadlineExceeded)
    const script = { name: 'look', text: 'ps -o args -u "$(id -u)" | grep -c "[s]leep 77.5"; exit 0' }
    await until('the command to end', async () => {
      const { stdout } = await link().run({ script, deadlineMs })
      return stdout.toString().trim() === '0'
    })
  })

  t('ends a command that says more than was asked for', async () => {
    const script = { name: 'yes', text: 'yes' }
    const error = await rejection(link().run({ script, deadlineMs, maxOutputBytes: 100_000 }))
    assert.instance(error, OutputTooLarge)
  })

  t('looks while long work fills every other channel, over two connections at most', async () => {
    const before = connectionsIn(host.sshdLog)
    let isOver = false
    const work = Array.from({ length: 16 }, () =>
      link()
        .run({ script: HELD, lines: ['crowd'], deadlineMs })
        .finally(() => {
          isOver = true
        }),
    )
    await begun('crowd')
    const state = await link().jobState('no-such-job')
    assert.is(state.state, 'absent')
    assert.not.ok(isOver, 'the lane for looking was filled')
    end('crowd')
    for (const { code } of await Promise.all(work)) assert.is(code, 0)
    assert.ok(connectionsIn(host.sshdLog) - before <= 2)
  })

  t(
    'says of a command under way that its outcome is unknown when the line is cut, and of the next one nothing',
    async () => {
      const running = rejection(link().run({ script: HELD, lines: ['cut'], deadlineMs }))
      await begun('cut')
      await host.cutSsh()
      end('cut')
      const error = await running
      assert.instance(error, HostUnreachable)
      assert.is((error as HostUnreachable).outcome, 'unknown')
      const { code } = await link().run({ script: { name: 'true', text: 'true' }, deadlineMs })
      assert.is(code, 0)
    },
  )

  t('refuses work on a host that is not approved', async () => {
    open.put({ spec: { approved: false } })
    assert.instance(await rejection(link().run({ script: ECHO, lines: ['a', 'b'], deadlineMs })), HostNotApproved)
    open.put({ spec: { approved: true } })
  })

  t('lets what runs end when the host is registered anew', async () => {
    const running = link().run({ script: HELD, lines: ['anew'], deadlineMs })
    await begun('anew')
    open.put({ spec: { user: host.user, port: host.sshPort } })
    const closed = open.hosts.close()
    end('anew')
    await closed
    const { stdout } = await running
    assert.is(stdout.toString(), 'slept\n')
  })
})

spec('a leader that was replaced', (t) => {
  let host: AppHost
  t.before(async () => {
    host = await startAppHost()
  })
  t.after(() => host.end())

  t('is refused by the host itself', async () => {
    const installation = 'one'
    const older = await openHosts(host, { installation, epoch: 7 })
    const newer = await openHosts(host, { installation, epoch: 8 })
    const script = { name: 'mark', text: 'echo done >> mark' }
    try {
      assert.is((await older.hosts.link(HOST_NAME).run({ script, deadlineMs })).code, 0)
      assert.is((await newer.hosts.link(HOST_NAME).run({ script, deadlineMs })).code, 0)
      assert.instance(await rejection(older.hosts.link(HOST_NAME).run({ script, deadlineMs })), StaleEpoch)
      assert.is(readFileSync(`${host.account.home}/mark`, 'utf8'), 'done\ndone\n')
    } finally {
      await older.end()
      await newer.end()
    }
  })
})

spec('a host with another key', (t) => {
  let host: AppHost
  let open: TestHosts
  t.before(async () => {
    host = await startAppHost()
    open = await openHosts(host)
  })
  t.after(async () => {
    await open.end()
    await host.end()
  })

  t('gets zero authentication packets, and work on it stops until it is pinned anew', async () => {
    const link = open.hosts.link(HOST_NAME)
    const run = () => link.run({ script: { name: 'true', text: 'true' }, deadlineMs })
    assert.is((await run()).code, 0)
    await host.swapKey()
    await host.cutSsh()
    const logged = readFileSync(host.sshdLog, 'utf8').length
    assert.instance(await rejection(run()), HostKeyChanged)
    assert.instance(await rejection(run()), HostKeyChanged)
    const other = fingerprintOf(
      readFileSync(`${host.folder}/otherkey.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim(),
    )
    assert.match(other, /^SHA256:/)
    assert.equal(await open.hosts.inspect(HOST_NAME, new AbortController().signal), { reach: 'key', shown: other })
    const since = () => readFileSync(host.sshdLog, 'utf8').slice(logged)
    await until('the connections in the log', () => /Connection from 127\.0\.0\.1/.test(since()))
    await sleep(300)
    assert.not.match(since(), /userauth|publickey|Accepted|Failed|for user|invalid user/i)
  })
})

const connectionsIn = (log: string): number => readFileSync(log, 'utf8').match(/Accepted publickey/g)?.length ?? 0
