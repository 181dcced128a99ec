import { judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { filesOf, type Shape } from '../../../support/builders/compose/shape.ts'
import { SINGLE } from '../../../support/builders/compose/single.ts'
import { STORES } from '../../../support/builders/compose/stores.ts'
import { TIERS } from '../../../support/builders/compose/tiers.ts'
import { WASM } from '../../../support/builders/compose/wasm.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** The shapes of projects that people know: most run on a shared host as they are, and whatever cannot is told what to do. */

const SHAPES = [...SINGLE, ...STORES, ...TIERS, ...WASM]
const ACCEPTED_MIN = 30

const judge = (shape: Shape) =>
  judgeCompose(sourceOf(filesOf(shape), 'compose.yaml'), { ...shared, arch: 'amd64', env: shape.env ?? {} })

spec('a project of a well-known shape', (t) => {
  t('is one of 39, of which at least 30 run', () => {
    assert.is(new Set(SHAPES.map(({ name }) => name)).size, 39)
    const accepted = SHAPES.filter((shape) => judge(shape).ok)
    assert.ok(accepted.length >= ACCEPTED_MIN, `${accepted.length}`)
  })

  for (const shape of SHAPES) {
    if ('route' in shape) {
      t(`runs as ${shape.name}, with its visitors at ${shape.route}`, () => {
        const verdict = judge(shape)
        if (!verdict.ok) throw new Error(JSON.stringify(verdict.findings, null, 1))
        const { service, port } = verdict.project.route
        assert.is(`${service}:${port}`, shape.route)
        for (const { from, reason, pointer } of verdict.changes) assert.ok(from && reason && pointer, pointer)
      })
    } else {
      t(`is refused as ${shape.name}, with every place and what to do`, () => {
        const verdict = judge(shape)
        const found = verdict.ok ? [] : verdict.findings.filter(({ level }) => level === 'refuse')
        assert.equal(found.map(({ pointer }) => pointer).sort(), [...shape.refused].sort())
        for (const { next, detail, line } of found) assert.ok(next.length > 8 && detail.length > 8 && line > 0)
      })
    }
  }
})
