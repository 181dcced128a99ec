import { escaped, printCells, sourcePolicy } from '../../../crds/app/compose/printing/printcell.ts'
import type { Project } from '../../../crds/app/compose/project.ts'
import { buildFault } from '../../../crds/host/isolation.ts'
import { BUILDER } from '../../../crds/host/schema.ts'
import { buildkitVersion } from '../../../hack/lib/tooltable.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('a build in a cell', (t) => {
  const build = { context: 'a', args: { B: 'x\ny' }, noCache: true, pull: true }
  const cellsOf = (more: object) =>
    printCells({
      services: [
        { name: 'web', image: 'i', build: { ...build, ...more } },
        { name: 'db', build: null },
      ],
    } as unknown as Project)

  t('is told of one Dockerfile, and to read it itself', () => {
    const [cell, ...more] = cellsOf({ dockerfile: '../sub/D', target: 't' })
    assert.equal(more, [])
    assert.equal([cell?.context, cell?.recipe, cell?.inline], ['a', 'sub', null])
    const options = ['cmdline=docker/dockerfile', 'filename=D', 'target=t', 'no-cache=', 'image-resolve-mode=pull']
    assert.equal(cell?.options, [...options, 'build-arg:B=x\ny'])
  })
  t('takes a Dockerfile out of the compose file', () => {
    const [cell] = cellsOf({ dockerfileInline: 'FROM x\n' })
    assert.equal([cell?.recipe, cell?.inline, cell?.options[1]], ['a', 'FROM x\n', 'filename=Dockerfile'])
  })
  t('is told all of it in lines', () => assert.is(escaped('a\\n\nb'), 'a\\\\n\\nb'))
  t('takes images of the named registries alone', () => {
    const { rules } = JSON.parse(sourcePolicy(['ghcr.io']))
    assert.equal(rules[0], { action: 'DENY', selector: { identifier: 'docker-image://*' } })
    assert.equal(rules.at(-1), { action: 'ALLOW', selector: { identifier: 'docker-image://ghcr.io/*' } })
  })
  t('runs in an image of the version that the tests build, by its digest', () => {
    assert.match(BUILDER, new RegExp(`^docker\\.io/moby/buildkit:${buildkitVersion}@sha256:[0-9a-f]{64}$`))
  })
  t('is refused where its root would be root, and named images are not', () => {
    const plain = { name: 'green', remapsUsers: false }
    assert.match(buildFault(plain, [{ build: null }, { build }]) ?? '', /^green .*userns-remap/)
    assert.is(buildFault(plain, [{ build: null }]), null)
    assert.is(buildFault({ ...plain, remapsUsers: true }, [{ build }]), null)
  })
})
