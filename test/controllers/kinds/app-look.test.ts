import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseLook } from '../../../controllers/kinds/app/health/lookparse.ts'
import { LOOK } from '../../../controllers/kinds/app/scripts.ts'
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
