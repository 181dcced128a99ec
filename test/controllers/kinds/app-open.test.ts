import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { END_OPEN } from '../../../controllers/kinds/app/scripts.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * What ends what is open, where the engine or the kernel of a host is as no real one can be made at will: a real shell and the script as it is
 * sent, an engine that stands in for the host's, and an `ss` that does for the guard's.
 */

const LISTENS = `172.20.0.2:8080/tcp
127.0.0.1:30001/tcp`
const ID = 'c'.repeat(64)

/** Has one container, which listens at `PORTS`; is silent when asked for what `SILENT` names. Keeps what the guard is told, and who is to end. */
const ENGINE = `#!/bin/sh
[ "$1" != "$SILENT" ] || { echo 'Cannot connect to the Docker daemon' >&2; exit 1; }
case "$1" in
  ps) echo ${ID};;
  inspect) case "$3" in *'at {{$one.Id}}'*) echo "at ${ID}";; esac; printf '%s\\n' "$PORTS";;
  exec)
    text=$6
    shift 7
    tee "$TOLD" | sh -c "$SS
$text" sever "$@";;
esac
`

spec('what ends what is open at an app', (t) => {
  let folder: string
  /** @param given.ss what the guard's kernel has: the body of a function that is called as \`ss\` is */
  const run = (given: { ports: string; silent?: string; ss?: string; whose?: string }) => {
    const told = join(folder, 'told')
    writeFileSync(told, '')
    const { status, stderr } = spawnSync('sh', ['-c', END_OPEN.text], {
      input: `shop\n${given.whose ?? 'other'}\n`,
      encoding: 'utf8',
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        ...{ TOLD: told, PORTS: given.ports, SILENT: given.silent ?? '', SS: `ss() { ${given.ss ?? ':'}\n}` },
      },
    })
    return { code: status, why: stderr.trim(), told: readFileSync(told, 'utf8').split('\n').filter(Boolean) }
  }

  t.before(() => {
    folder = scratchFolder('open')
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin', 'docker'), ENGINE, { mode: 0o755 })
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t('asks the guard for all places where it listens', () => {
    assert.equal(run({ ports: LISTENS }), { code: 0, why: '', told: ['172.20.0.2:8080', '127.0.0.1:30001'] })
  })
  t('has nothing to do where nothing listens, as while its only container is started again and again', () => {
    assert.equal(run({ ports: '' }), { code: 0, why: '', told: [] })
    assert.is(run({ ports: '', silent: 'exec' }).code, 0, 'whatever the guard is')
  })
  for (const silent of ['ps', 'inspect', 'exec']) {
    t(`says that it failed where the engine does not answer to ${silent}`, () => {
      assert.is(run({ ports: LISTENS, silent }).code, 1)
    })
  }

  /** A kernel that has one connection to end, and what stands at its timer; with `-K` it does `END`. */
  const kernel = (timer: string, end: string) => `case "$*" in
    *-K*) ${end};;
    *172.20.0.2*) [ -e "$TOLD.ended" ] || echo 'ESTAB 0 0 172.20.0.1:40000 172.20.0.2:8080 ${timer}';;
  esac`
  const CANNOT = { code: 3, why: 'the kernel ends no connections (CONFIG_INET_DIAG_DESTROY)' }

  for (const [what, timer] of [
    ['is idle', 'timer:(keepalive,10sec,0)'],
    ['has something on its way all the time', 'timer:(on,200ms,0)'],
  ] as const) {
    t(`says of a kernel that ends nothing that it cannot, also where who is connected ${what}`, () => {
      const { code, why } = run({ ports: LISTENS, ss: kernel(timer, ':') })
      assert.equal({ code, why }, CANNOT)
      const ended = run({ ports: LISTENS, ss: kernel(timer, ': > "$TOLD.ended"') })
      rmSync(join(folder, 'told.ended'))
      assert.equal([ended.code, ended.why], [0, ''])
    })
  }
})
