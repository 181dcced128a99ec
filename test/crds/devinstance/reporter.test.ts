/** The reporter of a dev instance, under sh, on a made-up machine that tells a service on loopback. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileCheck } from '../../../api/http/validate.ts'
import { gitOf, REPORT } from '../../../crds/devinstance/bootstrap/report.ts'
import {
  INHIBIT_SECONDS,
  KEPT_REPORTS_MAX,
  reporterScript,
  UNATTENDED_SECONDS,
} from '../../../crds/devinstance/bootstrap/reporter.ts'
import { type Machine, madeMachine, startService } from '../../support/builders/machine.ts'
import { assert, type Suite, spec } from '../../support/runner/spec.ts'

const T0 = 1_795_000_000 // 2026-11-18T11:06:40Z
const TOKEN = 'dbr_dev-october_secretsecret'
const SLICE = '/user.slice/user-1000.slice/user@1000.service/agents.slice'
const SCRIPT = reporterScript([
  { id: 'claude-code', folder: 'agents/claude' },
  { id: 'codex', folder: 'agents/codex' },
])

type Body = {
  at: string
  uptimeSeconds: number
  memory: Record<string, number>
  disk: Record<string, number>
  oom: Record<string, unknown>
  git: { dirty: number; untracked: number; unpushed: number; head: string; repositories: Record<string, unknown>[] }
  agents: Record<string, string>
  activity: { source: string; name?: string; weight: number; secondsAgo?: number; count?: number }[]
  stopping?: { reason: string }
}

const onMachine = (t: Suite) => {
  const on = {} as { folder: string; machine: Machine; service: Awaited<ReturnType<typeof startService>> }
  t.before(async () => {
    on.folder = mkdtempSync(join(tmpdir(), 'bottega-reporter-'))
    on.service = await startService()
  })
  t.after(() => {
    on.service.close()
    rmSync(on.folder, { recursive: true, force: true })
  })
  let count = 0
  t.before.each(() => {
    count += 1
    on.machine = madeMachine(join(on.folder, String(count)))
    on.machine.put('/etc/bottega/token', `${TOKEN}\n`)
    on.machine.put('/etc/bottega/url', `${on.service.url}\n`)
    on.service.told.length = 0
    on.service.status = 200
    on.service.policy = { idleMinutes: 30, autoscale: 'ask' }
  })
  const at = async (minute: number, args: readonly string[] = []) =>
    on.machine.run(SCRIPT, { now: T0 + minute * 60, args, env: { PREFIX: on.machine.at('/opt/bottega') } })
  /** Looks, and gives what the service was told last. */
  const look = async (minute: number): Promise<Body> => {
    const { code, stderr } = await at(minute)
    assert.equal([code, stderr], [0, ''])
    const body = on.service.told.at(-1)?.body as unknown as Body
    assert.equal(compileCheck(REPORT as object)(body), [])
    return body
  }
  /** What kept the machine awake in a minute. */
  const awake = async (minute: number) =>
    (await look(minute)).activity.filter(({ weight }) => weight > 0).map(({ source, name }) => name ?? source)
  const idleMinutes = (minute: number): number => {
    const active = /^active (\d+)$/m.exec(on.machine.read('/run/bottega/idle') ?? '')?.[1]
    return minute - (Number(active) - T0) / 60
  }
  return { on, at, look, awake, idleMinutes }
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  }).trim()

const OLD = T0 - 86_400
/** A repository whose files were changed long ago. */
const repository = (path: string, files: Record<string, string> = { a: 'one' }): string => {
  mkdirSync(path, { recursive: true })
  git(path, 'init', '-q', '-b', 'main')
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  git(path, 'add', '-A')
  git(path, 'commit', '-q', '-m', 'one')
  age(path, ...Object.keys(files))
  return path
}
const age = (path: string, ...names: string[]): void => {
  for (const name of [...names, '.git/logs/HEAD']) utimesSync(join(path, name), OLD, OLD)
}

spec('the reporter of a dev instance', (t) => {
  const { on, at, look } = onMachine(t)

  t('says by its token how the machine is, in the shape that the report has', async () => {
    on.machine.put('/proc/77/status', 'Name:\tnode\nVmHWM:\t 3145728 kB\n')
    on.machine.put('/opt/bottega/agents/claude/package.json', '{\n  "name": "x",\n  "version": "2.1.330"\n}\n')
    const body = await look(0)
    const [first] = on.service.told
    assert.equal([first?.path, first?.token], ['/api/devboxes/dev-october/report', TOKEN])
    assert.is(body.at, '2026-11-18T11:06:40Z')
    assert.is(body.uptimeSeconds, 3600)
    assert.equal(body.memory, { totalGb: 16, usedGb: 4, peakRssGb: 3 })
    assert.ok((body.disk.totalGb ?? 0) >= (body.disk.usedGb ?? Infinity))
    assert.equal(body.oom, { count: 0 })
    assert.equal(body.agents, { 'claude-code': '2.1.330' })
    assert.equal(body.git, { dirty: 0, untracked: 0, unpushed: 0, head: '', repositories: [] })
  })
  t('keeps the policy that it is answered', async () => {
    on.service.policy = { idleMinutes: 45, autoscale: 'ask' }
    await look(0)
    assert.is(on.machine.read('/var/lib/bottega/policy'), 'idleMinutes 45\nstopWithUnpushedWork 0\n')
    on.service.policy = { idleMinutes: 15, stopWithUnpushedWork: true }
    await look(1)
    assert.is(on.machine.read('/var/lib/bottega/policy'), 'idleMinutes 15\nstopWithUnpushedWork 1\n')
  })
  t('shows its token on no command line', async () => {
    on.machine.put('/proc/1/cmdline', '')
    // `set -x` would show the same, but two processes that are traced at once write into each other's lines
    const [programs, noted] = [on.machine.at('/programs'), on.machine.at('/programs/noted')]
    mkdirSync(programs, { recursive: true })
    const real = execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim()
    const text = `#!/bin/sh\nprintf '%s\\n' "curl $*" >>'${noted}'\nexec ${real} "$@"\n`
    writeFileSync(join(programs, 'curl'), text, { mode: 0o755 })
    const { code } = await on.machine.run(`PATH='${programs}':$PATH\n${SCRIPT}`, { now: T0 })
    const lines = (on.machine.read('/programs/noted') ?? '').trim().split('\n')
    assert.equal([code, lines.length, on.service.told.length], [0, 1, 1])
    assert.match(lines.join(), '/api/devboxes/dev-october/report')
    assert.not.match(lines.join(), 'secretsecret')
  })

  t('keeps what it could not say, and says the oldest first when the service is back', async () => {
    on.service.status = 503
    for (const minute of [0, 1, 2]) await at(minute)
    assert.is(on.machine.reports().length, 3)
    on.service.status = 200
    on.service.told.length = 0
    await look(3)
    assert.equal(
      on.service.told.map(({ body }) => (body as unknown as Body).at.slice(14, 16)),
      ['06', '07', '08', '09'],
    )
    assert.equal(on.machine.reports(), [])
  })
  t('keeps so many and no more, the newest', async () => {
    for (let n = 1; n <= KEPT_REPORTS_MAX + 5; n += 1)
      on.machine.put(`/var/lib/bottega/reports/${T0 - n * 60}`, '{"at":"2026-11-18T10:00:00Z"}')
    on.service.status = 500
    await at(0)
    const kept = on.machine.reports()
    assert.equal(
      [kept.length, kept[0], kept.at(-1)],
      [KEPT_REPORTS_MAX, String(T0 - (KEPT_REPORTS_MAX - 1) * 60), String(T0)],
    )
  })
  t('also when nobody listens there', async () => {
    on.machine.put('/etc/bottega/url', 'http://127.0.0.1:1\n')
    assert.is((await at(0)).code, 0)
    assert.is(on.machine.reports().length, 1)
  })
  for (const status of [400, 413, 422]) {
    t(`drops what is refused with ${status}, for it would be refused again`, async () => {
      on.service.status = status
      const { code, stderr } = await at(0)
      assert.equal([code, on.machine.reports()], [0, []])
      assert.match(stderr, `refused with ${status}`)
    })
  }
  for (const status of [401, 403]) {
    t(
      `fails at ${status} with what to do, keeps its reports, and sends them by the token that it is given then`,
      async () => {
        on.service.status = status
        const { code, stderr } = await at(0)
        assert.is(code, 1)
        assert.match(stderr, 'give a new one to /opt/bottega/bin/token')
        on.service.status = 200
        on.machine.put('/etc/bottega/token', 'dbr_dev-october_another\n')
        await look(1)
        assert.equal(
          on.service.told.slice(-2).map(({ token }) => token),
          ['dbr_dev-october_another', 'dbr_dev-october_another'],
        )
      },
    )
  }
})

spec('what the reporter says of work', (t) => {
  const { on, look, idleMinutes } = onMachine(t)
  const home = (path: string) => on.machine.at(`/home/dev/${path}`)

  t('counts changed and unknown files and commits of each repository, and in all', async () => {
    const shop = repository(home('repo'), { a: 'one', b: 'two' })
    writeFileSync(join(shop, 'a'), 'changed')
    writeFileSync(join(shop, 'it\'s\n"new"'), '')
    const other = repository(home('work/other'))
    git(other, 'commit', '-q', '--allow-empty', '-m', 'two')
    const { git: said } = await look(0)
    assert.equal(said.repositories, [
      { path: '~/repo', dirty: 1, untracked: 1, unpushed: 1, head: git(shop, 'rev-parse', 'HEAD') },
      { path: '~/work/other', dirty: 0, untracked: 0, unpushed: 2, head: git(other, 'rev-parse', 'HEAD') },
    ])
    assert.equal([said.dirty, said.untracked, said.unpushed, said.head], [1, 1, 3, git(shop, 'rev-parse', 'HEAD')])
    assert.equal(gitOf({ git: said }), { dirty: 1, untracked: 1, unpushed: 3 })
  })
  t('knows what was pushed, what was stashed, and what stands on no branch', async () => {
    const shop = repository(home('repo'))
    const far = join(on.folder, `far-${Math.random()}`)
    git(shop, 'init', '-q', '--bare', far)
    git(shop, 'remote', 'add', 'origin', far)
    git(shop, 'push', '-q', 'origin', 'main')
    const unpushed = async (minute: number) => (await look(minute)).git.unpushed
    assert.is(await unpushed(0), 0)
    git(shop, 'checkout', '-q', '--detach')
    git(shop, 'commit', '-q', '--allow-empty', '-m', 'on no branch')
    assert.is(await unpushed(1), 1)
    git(shop, 'checkout', '-q', 'main')
    writeFileSync(join(shop, 'a'), 'stashed')
    git(shop, 'stash', '-q')
    assert.ok((await unpushed(2)) > 0)
    git(shop, 'stash', 'drop', '-q')
    git(shop, 'tag', 'v1')
    assert.is(await unpushed(3), 0)
  })
  t('tells a work tree with its repository, and once', async () => {
    const shop = repository(home('repo'))
    git(shop, 'worktree', 'add', '-q', '--detach', home('agent'))
    git(home('agent'), 'commit', '-q', '--allow-empty', '-m', 'of an agent')
    writeFileSync(join(home('agent'), 'new'), '')
    const { git: said } = await look(0)
    assert.equal([said.repositories.length, said.untracked, said.unpushed], [1, 1, 2])
  })
  t('counts what it cannot read as work', async () => {
    const shop = repository(home('repo'))
    writeFileSync(join(shop, '.git', 'index'), 'broken')
    assert.is((await look(0)).git.dirty, 1)
  })
  t('an empty repository has none, and folders of packages are not looked through', async () => {
    mkdirSync(home('repo'), { recursive: true })
    git(home('repo'), 'init', '-q')
    repository(home('node_modules/x'))
    repository(home('.cache/y'))
    const { git: said } = await look(0)
    assert.equal([said.repositories.length, said.unpushed], [1, 0])
  })
  t('a file that was saved is use; one that is dated tomorrow is not', async () => {
    const shop = repository(home('repo'))
    await look(0)
    await look(20)
    assert.is(idleMinutes(20), 20)
    writeFileSync(join(shop, 'a'), 'saved')
    utimesSync(join(shop, 'a'), T0 + 30 * 60, T0 + 30 * 60)
    await look(31)
    assert.is(idleMinutes(31), 1)
    utimesSync(join(shop, 'a'), T0 + 86_400, T0 + 86_400)
    await look(60)
    assert.is(idleMinutes(60), 30)
  })
})

spec('what the reporter says of kills', (t) => {
  const { on, look } = onMachine(t)
  const killed = (at: number, cgroup: string, task: string, pid: number, rssKb: number): string =>
    `${at}.250000 october kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=user.slice,mems_allowed=0,oom_memcg=${SLICE},task_memcg=${cgroup},task=${task},pid=${pid},uid=1000
${at}.250100 october kernel: Memory cgroup out of memory: Killed process ${pid} (${task}) total-vm:99kB, anon-rss:${rssKb}kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0
`
  const kills = (count: number, journal: string) => {
    on.machine.put('/proc/vmstat', `oom_kill ${count}\n`)
    on.machine.answers('journalctl', journal)
  }

  t('an agent is named by its scope, whatever its program is called', async () => {
    kills(1, killed(T0 - 90, `${SLICE}/gemini-cli-412.scope`, 'node', 412, 9_437_184))
    const { oom, memory } = await look(0)
    assert.equal(oom, {
      count: 1,
      victim: 'gemini-cli',
      cgroup: `${SLICE}/gemini-cli-412.scope`,
      at: '2026-11-18T11:05:10Z',
    })
    assert.is(memory.peakRssGb, 9)
  })
  t('what an agent had started is named as itself, in the scope of the agent', async () => {
    kills(1, killed(T0 - 90, `${SLICE}/claude-code-412.scope`, 'cc1plus', 500, 1))
    const { oom } = await look(0)
    assert.equal([oom.victim, oom.cgroup], ['cc1plus', `${SLICE}/claude-code-412.scope`])
  })
  t('the last of several is told', async () => {
    kills(
      2,
      killed(T0 - 90, '/system.slice/a.service', 'a', 1, 1) + killed(T0 - 30, '/system.slice/b.service', 'b', 2, 1),
    )
    const { oom } = await look(0)
    assert.equal([oom.count, oom.victim], [2, 'b'])
  })
  t('where the journal is lost, the control group that counts them is told', async () => {
    kills(3, '')
    on.machine.put('/sys/fs/cgroup/user.slice/memory.events', 'low 0\nhigh 0\nmax 8\noom 3\noom_kill 3\n')
    on.machine.put(`/sys/fs/cgroup${SLICE}/memory.events`, 'low 0\nhigh 0\nmax 8\noom 3\noom_kill 3\n')
    on.machine.put('/sys/fs/cgroup/system.slice/x.service/memory.events', 'oom 0\noom_kill 0\n')
    assert.equal((await look(0)).oom, { count: 3, cgroup: SLICE })
  })
})

spec('what keeps a dev instance awake', (t) => {
  const { on, awake, look, idleMinutes } = onMachine(t)
  /** Received by a model's stream up to a minute. */
  const streaming = (minute: number, each = 4096) => ({
    cpuSeconds: minute * 0.2,
    connections: { '203.0.113.9:443': minute * each },
  })

  t('an agent in a turn, for an hour and more, though nobody types', async () => {
    for (const minute of [0, 1, 2, 30, 60, 61, 90]) {
      on.machine.agent('claude-code', 412, streaming(minute))
      const seen = await awake(minute)
      if (minute > 1) assert.equal([seen, idleMinutes(minute)], [['claude-code'], 0], `minute ${minute}`)
    }
  })
  t('an agent whose command works, though no model speaks', async () => {
    for (const minute of [0, 1, 2, 10]) {
      on.machine.agent('codex', 7, { cpuSeconds: minute * 40 })
      await look(minute)
    }
    assert.is(idleMinutes(10), 0)
  })
  const idleAgents: [string, Parameters<Machine['agent']>[2][]][] = [
    ['that waits at its prompt', [{ cpuSeconds: 1 }, { cpuSeconds: 1.5 }, { cpuSeconds: 2 }]],
    ['whose channel is merely kept open', [0, 1, 2].map((minute) => streaming(minute, 300))],
    ['that asked once for updates', [streaming(0), streaming(40), streaming(40)]],
    [
      'that talks with a program beside it',
      [0, 1, 2].map((minute) => ({
        cpuSeconds: 0,
        connections: { '127.0.0.1:9000': minute * 1e6, '[::1]:9000': minute * 1e6 },
      })),
    ],
  ]
  for (const [what, uses] of idleAgents) {
    t(`not an agent ${what}`, async () => {
      for (const [minute, used] of uses.entries()) {
        on.machine.agent('claude-code', 412, used)
        await look(minute)
      }
      assert.is(idleMinutes(2), 2)
    })
  }
  t('not what is no agent, however much it receives', async () => {
    for (const minute of [0, 1, 2]) {
      on.machine.agent('claude-code', 412, streaming(minute))
      on.machine.end('claude-code', 412)
      on.machine.answers(
        'ss',
        `0 0 10.0.0.5:4 203.0.113.9:443 users:(("node",pid=412,fd=20)) cubic bytes_received:${minute * 9999}\n`,
      )
      await look(minute)
    }
    assert.is(idleMinutes(2), 2)
  })
  t(`no agent that nobody attended to for ${UNATTENDED_SECONDS / 3600} hours`, async () => {
    const last = UNATTENDED_SECONDS / 60
    for (const minute of [0, 1, last - 1, last, last + 20]) {
      on.machine.agent('claude-code', 412, streaming(minute))
      await look(minute)
    }
    assert.is(idleMinutes(last + 20), 21)
    on.machine.typed(T0 + (last + 25) * 60)
    on.machine.agent('claude-code', 412, streaming(last + 26))
    assert.equal(await awake(last + 26), ['terminal', 'claude-code'])
  })
  t('a build that somebody left running', async () => {
    for (const minute of [0, 1, 2]) {
      on.machine.put('/sys/fs/cgroup/user.slice/cpu.stat', `usage_usec ${minute * 30e6}\n`)
      await look(minute)
    }
    assert.is(idleMinutes(2), 0)
  })
  t('a key in a terminal, to the second', async () => {
    await look(0)
    on.machine.typed(T0 + 7 * 60 + 30)
    assert.equal(await awake(8), ['terminal'])
    assert.is(idleMinutes(8), 0.5)
    assert.equal(await awake(9), [])
    assert.is(idleMinutes(9), 1.5)
  })
  t('not a session or an editor that was left open, though both are told', async () => {
    on.machine.put('/proc/20/cmdline', 'sshd: dev@notty\0')
    on.machine.put('/proc/21/cmdline', 'sshd-session: dev@pts/0\0')
    on.machine.put('/proc/22/cmdline', '/home/dev/.vscode-server/cli/servers/x/server/node\0--type=extensionHost\0')
    on.machine.put('/proc/23/cmdline', '/home/dev/.cache/JetBrains/RemoteDev/dist/idea/jbr/bin/java\0')
    on.machine.typed(T0 - 7200)
    await look(0)
    // as much as language servers use that wait
    on.machine.put('/sys/fs/cgroup/user.slice/cpu.stat', `usage_usec ${60 * 2e6}\n`)
    const { activity } = await look(60)
    assert.equal(
      activity.filter(({ count }) => count !== undefined).map(({ source, weight, count }) => [source, weight, count]),
      [
        ['ssh', 0, 2],
        ['editor', 0, 2],
      ],
    )
    assert.is(idleMinutes(60), 60)
  })
  t('a file that asks for it, for a day', async () => {
    await look(0)
    on.machine.put('/run/bottega/inhibit', '', T0)
    assert.equal(await awake(120), ['inhibit'])
    const day = INHIBIT_SECONDS / 60
    assert.equal(await awake(day - 1), ['inhibit'])
    assert.equal(await awake(day), [])
    assert.is(idleMinutes(day), 1)
  })
  t('work that is nowhere else, once it would stop: told with its count, and the clock goes on', async () => {
    const repo = on.machine.at('/home/dev/repo')
    repository(repo)
    on.machine.put('/home/dev/repo/new', '', OLD)
    await look(0)
    assert.equal(await awake(29), [])
    const { activity } = await look(30)
    assert.equal(activity.at(-1), { source: 'unpushed', weight: 1, count: 2 } as never)
    assert.is(idleMinutes(30), 30)
    on.service.policy = { idleMinutes: 30, stopWithUnpushedWork: true }
    await look(31)
    assert.equal(await awake(32), [])
  })
})

spec('a dev instance that stops', (t) => {
  const { on, at, look } = onMachine(t)
  const systemctl = (answer: string) => on.machine.answers('systemctl', answer)

  t('says so, and why', async () => {
    await look(0)
    systemctl('stopping')
    for (const [written, reason] of [
      [undefined, 'shutdown'],
      ['idle for 31 minutes\n', 'idle for 31 minutes'],
    ]) {
      if (written !== undefined) on.machine.put('/run/bottega-idle/stopping', written)
      const { code, stderr } = await at(1, ['stopping'])
      assert.equal([code, stderr], [0, ''])
      const body = on.service.told.at(-1)?.body as unknown as Body
      assert.equal(body.stopping, { reason })
      assert.equal(compileCheck(REPORT as object)(body), [])
    }
  })
  t(
    'has the token from its input alone, as a unit that stops has it, and leaves it to nothing that it begins',
    async () => {
      rmSync(on.machine.at('/etc/bottega/token'))
      systemctl('stopping')
      on.service.told.length = 0
      const begun = 'timeout() { cat >> "$ROOT/seen"; command timeout "$@"; }\n'
      repository(on.machine.at('/home/dev/repo'))
      const { code, stderr } = await on.machine.run(begun + SCRIPT, {
        now: T0,
        args: ['stopping'],
        input: `${TOKEN}\n`,
      })
      assert.equal([code, stderr, on.service.told.map(({ token }) => token)], [0, '', [TOKEN]])
      assert.is(on.machine.read('/seen'), '')
    },
  )
  t('keeps that for no later day when nobody hears it', async () => {
    on.service.status = 503
    systemctl('stopping')
    assert.is((await at(1, ['stopping'])).code, 0)
    assert.equal(on.machine.reports(), [])
  })
  for (const [what, answer] of [
    ['its unit is only begun again', 'running'],
    ['it only starts anew', 'stopping\n12 reboot.target start waiting'],
  ]) {
    t(`says nothing where ${what}`, async () => {
      systemctl(answer ?? '')
      await at(1, ['stopping'])
      assert.equal(on.service.told, [])
    })
  }
})
