import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'

/** The guard of a host's apps as it runs there, in a network of its own with nothing in it. */

const script = readFileSync(
  join(import.meta.dirname, '..', '..', '..', 'controllers', 'kinds', 'host', 'scripts', 'guard.sh'),
  'utf8',
)
const CLOSED = '169.254.0.0/16 10.0.0.0/8'
const ROUNDS = 4

spec('the guard of the apps', (t) => {
  let guard: ChildProcess
  const within = (command: string): string =>
    execFileSync('nsenter', ['-t', String(guard.pid), '-n', '-m', 'sh', '-c', command], { encoding: 'utf8' })
  const rules = (): string => within('iptables -t mangle -S; iptables -t nat -S; ip6tables -t mangle -S')
  const told = (): string => within('cat /run/guard 2>/dev/null || true').replace(/^\d+ /, '').trim()
  const restored = (): number => Number(/^ok (\d+)$/.exec(told())?.[1] ?? -1)
  let whole = ''

  t.before(async () => {
    // its state, and the lock of the packet filter, lie in /run; links of this network are told in a /sys of its own
    const own = 'mount -t tmpfs none /run && mount -t sysfs none /sys && exec sh -c "$1" guard "$2"'
    guard = spawn('unshare', ['-n', '-m', 'sh', '-c', own, 'guard', script, CLOSED], { stdio: 'ignore' })
    await once(guard, 'spawn')
    await eventually('its rules', async () => restored() === 0, 20_000)
    whole = rules()
  })
  t.after(async () => {
    const left = once(guard, 'exit')
    guard.kill('SIGTERM')
    await left
  })

  t('puts every rule back that somebody takes away, and counts how often', async () => {
    assert.match(whole, /-A FORWARD -i bt-\+ -j BOTTEGA-FROM/)
    assert.match(whole, /-A BOTTEGA-FROM -d 10\.0\.0\.0\/8 -j DROP/)
    assert.match(whole, /-A BOTTEGA-HOST -j DROP/)
    for (const [times, taken] of [
      'iptables -t mangle -F FORWARD',
      'iptables -t mangle -F BOTTEGA-FROM',
      'iptables -t mangle -D BOTTEGA-FROM -d 10.0.0.0/8 -j DROP',
      'iptables -t mangle -I BOTTEGA-FROM -j RETURN',
      'iptables -t mangle -F && iptables -t mangle -X',
      'ip6tables -t mangle -F BOTTEGA-TO',
      'iptables -t mangle -D BOTTEGA-FROM -i bt-n+ -j DROP',
      'iptables -t nat -F PREROUTING',
      'iptables -t nat -F BOTTEGA-BACK',
    ].entries()) {
      within(taken)
      await eventually(`what goes with: ${taken}`, async () => restored() === times + 1, 20_000)
      assert.is(rules(), whole, taken)
    }
  })

  t(
    'leads what a cell sends to ports 80 and 443 to its gate, for as long as its bridge says where that is',
    async () => {
      const before = restored()
      const leads = (port: number) =>
        `-A BOTTEGA-GATE -i bt-n0123456789a -p tcp -m tcp --dport ${port} -j DNAT --to-destination 10.1.2.3:${8_000 + port}`
      const led = () =>
        rules()
          .split('\n')
          .filter((line) => line.startsWith('-A BOTTEGA-GATE '))
      within('ip link add bt-n0123456789a type bridge && ip link add bt-nstranger type bridge')
      within(
        'ip link set bt-nstranger alias "gate 10.1.2.3; -j ACCEPT" && ip link set bt-n0123456789a alias "gate 10.1.2.3"',
      )
      await eventually('the rules of its gate', async () => led().length > 0, 20_000)
      assert.equal(led(), [leads(80), leads(443)])
      assert.is(restored(), before, 'nobody has taken anything away')
      within('iptables -t nat -F BOTTEGA-GATE')
      await eventually('that they are put back', async () => led().length === 2 && restored() === before + 1, 20_000)
      within('ip link del bt-n0123456789a && ip link del bt-nstranger')
      await eventually('that they go with the bridge', async () => rules() === whole, 20_000)
      assert.is(restored(), before + 1)
    },
  )

  t('does not take for whole what was broken while it put its rules back', async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const before = restored()
      // the jump is there again before the guard looks at what it has done
      within(`iptables -t mangle -F FORWARD
        until iptables -t mangle -S FORWARD | grep -q BOTTEGA-FROM; do :; done
        iptables -t mangle -F BOTTEGA-FROM`)
      await eventually(`the rules of round ${round}`, async () => rules() === whole && restored() > before, 20_000)
    }
  })
})
