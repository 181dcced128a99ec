import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostOfStep } from '../../../controllers/kinds/app/acts/keeping/moving.ts'
import { CARRY } from '../../../controllers/kinds/app/scripts.ts'
import { anOperation } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * What both hosts of a move that carries volumes do when their engine or their disk is at an end: a real shell and the scripts as they are
 * sent, and an engine that fails as no real one can be made to at will.
 */

/** A file for each container says whether it runs. Nothing is written to while something that matches `FULL` is there; `SILENT` answers nothing. */
const ENGINE = `#!/bin/sh
echo "$*" >> "$STATE/asked"
[ -z "$SILENT" ] || exit 1
cd "$STATE/containers" || exit 1
what=$1; shift
case "$what" in
  ps)
    only='' all=''
    for word in "$@"; do case "$word" in id=*) only=\${word#id=};; -a*) all=yes;; esac; done
    for one in *; do
      [ -f "$one" ] || continue
      case "$only" in ''|"$one") ;; *) continue;; esac
      [ -z "$all" ] && [ "$(cat "$one")" != running ] || echo "$one"
    done;;
  stop) for one in "$@"; do [ ! -f "$one" ] || echo exited > "$one"; done;;
  start) bad=0; for one in "$@"; do if [ -f "$one" ]; then echo running > "$one"; else bad=1; fi; done; exit $bad;;
  update) [ -f "$3" ] || exit 1; for one in $FULL; do [ ! -e "$one" ] || exit 1; done;;
  inspect) [ -f "$1" ];;
  rm) rm -f "$2";;
esac
`

spec('an app that is started again where it was', (t) => {
  let home: string
  const state = (...rest: string[]): string => join(home, 'state', ...rest)
  const app = (...rest: string[]): string => join(home, '.bottega/apps/shop', ...rest)
  const here = (...rest: string[]): string => app('moves/op-1', ...rest)
  const containers = (all: Record<string, 'running' | 'exited'>): void => {
    for (const [name, says] of Object.entries(all)) writeFileSync(state('containers', name), `${says}\n`)
  }
  const seen = () =>
    Object.fromEntries(
      readdirSync(state('containers')).map((id) => [id, readFileSync(state('containers', id), 'utf8').trim()]),
    )
  const stops = (): string[] =>
    readFileSync(state('asked'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('stop '))
  const goBack = (more: { silent?: string; full?: string } = {}): SpawnSyncReturns<string> =>
    spawnSync('sh', ['-c', CARRY.watch.text], {
      encoding: 'utf8',
      input: `${['shop', '0', 'op-1', '0', '', '', ''].join('\n')}\n`,
      env: {
        ...{ PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, STATE: state() },
        ...{ SILENT: more.silent ?? '', FULL: more.full ?? '' },
      },
    })
  const isBack = ({ stdout, status }: SpawnSyncReturns<string>): boolean =>
    status === 0 && /outcome back\n$/.test(stdout) && existsSync(here('returned'))

  t.before.each(() => {
    home = scratchFolder('carry')
    for (const folder of [join(home, 'bin'), state('containers'), here()]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(home, 'bin', 'docker'), ENGINE, { mode: 0o755 })
    writeFileSync(here('policies'), 'db always\nweb unless-stopped\n')
  })
  t.after.each(() => rmSync(home, { recursive: true, force: true }))

  t('goes on without a container that is gone, as one that drained', () => {
    containers({ web: 'exited' })
    assert.ok(isBack(goBack()))
    assert.equal(seen(), { web: 'running' })
  })

  t('is stopped once for that, however often it takes', () => {
    containers({ db: 'exited', web: 'running' })
    const full = home
    assert.not(isBack(goBack({ full })))
    assert.equal(seen(), { db: 'running', web: 'running' }, 'what can be started is')
    assert.ok(isBack(goBack()))
    assert.equal([stops(), seen()], [['stop -t 5 db web'], { db: 'running', web: 'running' }])
  })

  t('is not taken for gone by an engine that says nothing', () => {
    containers({ db: 'exited', web: 'exited' })
    assert.not(isBack(goBack({ silent: 'yes' })))
    assert.ok(isBack(goBack()))
    assert.equal(seen(), { db: 'running', web: 'running' })
  })

  t('is started from a disk that our own packs have filled', () => {
    containers({ db: 'exited', web: 'exited' })
    const packs = [here('kept/pack'), app('backups/op-1-1/kept/pack')]
    for (const pack of packs) {
      mkdirSync(join(pack, '..'), { recursive: true })
      writeFileSync(pack, 'much')
    }
    mkdirSync(app('backups/bk-1/kept'), { recursive: true })
    assert.ok(isBack(goBack({ full: packs.join(' ') })))
    assert.equal([readdirSync(app('backups')), existsSync(here('kept'))], [['bk-1'], false])
  })
})

spec('a job of a move that is ended', (t) => {
  t('is looked for on the host that it moves to, or where it lives', () => {
    const operation = anOperation({ intent: { kind: 'move', host: 'green', forwardSeconds: 0 } })
    const at = { do: 'cancelJob', operation, job: 'op-1-hold' } as const
    assert.equal([hostOfStep(at), hostOfStep({ ...at, isHome: true })], ['green', null])
  })
})
