import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CARRY } from '../../../controllers/kinds/app/scripts.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * What ends on the host that a move goes to, and is told by clocks that nobody sets: real shells and the parts of the scripts as they lie in
 * their files, and an engine whose one container starts when it is told to by the test.
 */

const part = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../../../controllers/kinds/app/scripts', path), 'utf8')
const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
const uptime = (): number => Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split('.')[0]))

const ENGINE = `#!/bin/sh
echo "$*" >> "$STATE/asked"
case "$1" in
  ps) cat "$STATE/running" 2>/dev/null;;
  stop) rm -f "$STATE/running";;
  inspect) exit 1;;
esac
`

spec('the lease of what a move has started', (t) => {
  let home: string
  let children: ChildProcess[]
  const env = () => ({ PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, STATE: home })
  const sh = (text: string, ...words: string[]) =>
    spawnSync('sh', ['-c', text, 'sh', ...words], { encoding: 'utf8', env: env() })
  const asked = (): string[] => {
    const all = sh('cat "$STATE/asked" 2>/dev/null').stdout
    return all.split('\n').filter(Boolean)
  }
  const begin = (command: string, ...words: string[]): ChildProcess => {
    const child = spawn(command, words, { env: env(), stdio: 'ignore' })
    children.push(child)
    return child
  }
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 600; tries++) {
      if (holds()) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`waited for ${what}: ${asked().join(', ')}`)
  }

  t.before.each(() => {
    children = []
    home = scratchFolder('lease')
    mkdirSync(join(home, 'bin'))
    mkdirSync(join(home, 'move'))
    writeFileSync(join(home, 'bin', 'docker'), ENGINE, { mode: 0o755 })
    writeFileSync(join(home, 'move', 'policies'), '')
  })
  t.after.each(() => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })

  t(
    'ends whatever its starter brings up after it, and goes when he has gone',
    async () => {
      const starter = begin('sleep', '600')
      const lapse = begin(
        'sh',
        '-c',
        part('keeping/carry/lapse.sh'),
        'lapse',
        join(home, 'move'),
        '0',
        'shop',
        String(starter.pid),
      )
      const ended = once(lapse, 'exit')
      await until('looks that find nothing', () => asked().length >= 4)
      writeFileSync(join(home, 'running'), 'late\n')
      await until('an end of what came late', () => asked().includes('stop -t 2 late'))
      starter.kill('SIGKILL')
      const [code] = await ended
      assert.is(code, 0)
    },
    { timeoutMs: 120_000 },
  )

  t('has nothing started that it was decided about meanwhile', () => {
    const up = `${part('parts/begin.sh')}\nlease=1 leased="$1"; make_leased() { :; }; up a b c`
    assert.is(sh(up, join(home, 'move')).status, 0)
    assert.is(asked().length, 1)
    symlinkSync('lapsed', join(home, 'move', 'fate'))
    assert.is(sh(up, join(home, 'move')).status, 1)
    assert.is(asked().length, 1)
  })

  t('begins only while it lasts, and on the start of the host that it was counted from', () => {
    const text = `${part('parts/handing/lease.sh')}\napp="$HOME" move=op-1 slug=shop lapse=true lease="$1"; begin_lease`
    const later = uptime() + 1_000
    assert.equal(
      [`${later} ${bootId}`, `${later} ${bootId.replace(/^./, 'x')}`, `${uptime() - 1} ${bootId}`].map(
        (lease) => sh(text, lease).status,
      ),
      [0, 1, 1],
    )
  })

  t('is told by the host that is left, which counts anew after a restart', () => {
    const folder = join(home, '.bottega/apps/shop/moves/op-1')
    mkdirSync(folder, { recursive: true })
    const look = (line: string): number[] => {
      writeFileSync(join(folder, 'until'), `${line}\n`)
      const { stdout } = spawnSync('sh', ['-c', CARRY.look.text], {
        encoding: 'utf8',
        env: env(),
        input: 'shop\n0\nop-1\n',
      })
      return stdout.trim().split(' ').map(Number)
    }
    const wall = Math.floor(Date.now() / 1_000)
    const [left = 0, ended = 0] = look(`${uptime() + 500} ${bootId} 1`)
    assert.ok(left > 400 && left <= 500 && ended === left, `${left} ${ended}`)
    const [none, rest = 0] = look(`${uptime() + 500} other ${wall + 300}`)
    assert.ok(none === 0 && rest > 200 && rest <= 300, `${none} ${rest}`)
    symlinkSync('back', join(folder, 'fate'))
    assert.equal(look(`1 ${bootId} 1`), [0, 0])
  })
})
