import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseLook } from '../../../controllers/kinds/app/health/lookparse.ts'
import { makeObservations } from '../../../controllers/kinds/app/health/observation.ts'
import { LOOK } from '../../../controllers/kinds/app/scripts.ts'
import { anApp, aRelease, NOW } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * A look at a host of many apps: a real shell and the script as it is sent, and an engine and a meter that stand in for the host's, which tell
 * of more than goes through a pipe at once.
 */

const APPS = 100
/** What one part waits for the other, in tenths of a second. */
const WAITS = 100

/** The meter has told of half of all when the containers are inspected, and tells of the others when that is done. */
const ENGINE = `#!/bin/sh
awaited() { n=0; until [ -e "$FOLDER/$1" ]; do n=$((n + 1)); [ "$n" -lt ${WAITS} ] || exit 1; sleep 0.1; done; }
case "$1" in
  ps) cat "$FOLDER/ids";;
  inspect) awaited half; cat "$FOLDER/inspected"; : > "$FOLDER/done";;
  exec) cat "$FOLDER/metered"; : > "$FOLDER/half"; awaited done; sleep 0.2; cat "$FOLDER/more";;
esac
`

spec('a look at a host of many apps', (t) => {
  let folder: string
  const names = Array.from({ length: APPS }, (_, n) => `shop-${n}`)
  const idOf = (n: number): string => n.toString(16).padStart(64, '0')

  t.before(() => {
    folder = scratchFolder('look')
    mkdirSync(join(folder, 'bin'))
    const keep = (name: string, lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
    writeFileSync(join(folder, 'bin', 'docker'), ENGINE, { mode: 0o755 })
    keep(
      'ids',
      names.map((_, n) => idOf(n)),
    )
    keep(
      'inspected',
      names.map(
        (name, n) =>
          `${idOf(n)} web running none 0 0 false unless-stopped ${name}-r1 0 0 0 0 networks:${name}_default, ports: at:172.20.0.2,`,
      ),
    )
    keep(
      'metered',
      names.map((name, n) => `disk ${name} 4096 ${1_000_000 + n} running`),
    )
    keep(
      'more',
      names.map((name, n) => `volume ${name} ${name}_data ${2_000_000 + n}`),
    )
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t('misses nothing, whichever of engine and meter tells first', () => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', LOOK.text], {
      input: '0 \n',
      encoding: 'utf8',
      env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, FOLDER: folder },
    })
    assert.equal([status, stderr], [0, ''])
    const seen = parseLook(stdout)
    assert.equal(seen.containers.map(({ id }) => id).sort(), names.map((_, n) => idOf(n)).sort())
    assert.equal([...seen.disks.keys()].sort(), names.toSorted())
    assert.equal([...seen.volumes.keys()].sort(), names.toSorted())
  })
})

spec('what was seen of a host last', (t) => {
  t('counts for a while, and no longer once the clock was set back before it', async () => {
    let [looks, nowMs] = [0, NOW.getTime()]
    const run = async () => {
      looks += 1
      return { code: 0, stdout: Buffer.from(''), stderr: '' }
    }
    const hosts = { facts: () => null, link: () => ({ run }), routes: () => ({ drift: async () => 'none' }) }
    const given = { hosts, now: () => new Date(nowMs) } as unknown as Parameters<typeof makeObservations>[0]
    const observations = makeObservations(given)
    const asked = { live: aRelease(1), before: null, isIdle: true, everyMs: 10_000 }
    const looksAfter = async (ms: number): Promise<number> => {
      nowMs += ms
      await observations.at(anApp(), asked)
      return looks
    }
    assert.equal([await looksAfter(0), await looksAfter(9_000), await looksAfter(2_000)], [1, 1, 2])
    assert.equal([await looksAfter(-3_600_000), await looksAfter(1_000)], [3, 3])
  })
})
