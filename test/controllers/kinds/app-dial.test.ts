import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DIAL } from '../../../controllers/kinds/app/scripts.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * What leads visitors to a container when the engine stops answering between two questions: a real shell and the script as it is sent, and an engine
 * that says nothing from some question on, which no real one can be made to at will.
 */

const ADDRESS = '172.20.0.2:8080'
const ID = 'c'.repeat(64)
const HOLDER = `${ID} 2026-11-01T00:00:00Z 02:42:ac:14:00:02`

/** Numbers what it is asked (but what is run in the guard), and answers nothing from `SILENT` on; what is inspected is `GONE` from that question on. */
const ENGINE = `#!/bin/sh
silent() { echo 'Cannot connect to the Docker daemon' >&2; exit 1; }
if [ "$1" = exec ]; then
  read -r holder || exit 0
  [ "$holder" != unknown ] || exit 1
  echo "veth1 $holder"
  exit 0
fi
echo "$1" >> "$ASKED"
n=$(wc -l < "$ASKED")
[ "$n" -lt "$SILENT" ] || silent
case "$1" in
  ps) [ "$n" -ge "$GONE" ] || echo ${ID};;
  inspect) [ "$n" -lt "$GONE" ] || { echo 'no such object' >&2; exit 1; }; echo "172.20.0.2 ${HOLDER}";;
esac
`
const NEVER = 99

spec('the file that leads to a container', (t) => {
  let folder: string
  const file = (): string => join(folder, 'dial', 'app-1')
  /** @param when from which question on the engine says nothing, or the container is gone */
  const lead = (when: { silent?: number; gone?: number }): { code: number | null; asked: string[] } => {
    const asked = join(folder, 'asked')
    writeFileSync(asked, '')
    const { status } = spawnSync('sh', ['-c', DIAL.text], {
      input: `shop\n${file()}\n${ADDRESS}\n`,
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        ...{ ASKED: asked, SILENT: String(when.silent ?? NEVER), GONE: String(when.gone ?? NEVER) },
      },
    })
    return { code: status, asked: readFileSync(asked, 'utf8').trim().split('\n') }
  }

  t.before(() => {
    folder = scratchFolder('dial')
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin', 'docker'), ENGINE, { mode: 0o755 })
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  const LED = '/sys/class/net/veth1/ifalias'

  t('is the link of the container, for three questions to the engine', () => {
    const { code, asked } = lead({})
    assert.equal([code, asked, readlinkSync(file())], [0, ['ps', 'inspect', 'inspect'], LED])
  })
  for (const silent of [1, 2, 3]) {
    t(`stays as it is where the engine answers nothing from question ${silent} on`, () => {
      lead({})
      const { code } = lead({ silent })
      assert.equal([code === 0, readlinkSync(file())], [false, LED])
    })
  }
  for (const gone of [1, 2, 3]) {
    t(`leads nowhere where the container is gone at question ${gone}`, () => {
      lead({})
      const { code } = lead({ gone })
      assert.equal([code, readlinkSync(file()), existsSync(file())], [0, 'gone', false])
    })
  }
  t('stays as it is where the engine goes silent after it said that something is gone', () => {
    lead({})
    const { code } = lead({ gone: 3, silent: 4 })
    assert.equal([code === 0, readlinkSync(file())], [false, LED])
  })
})
