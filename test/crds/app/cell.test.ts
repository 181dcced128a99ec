import { type BuildCell, cellLines } from '../../../controllers/kinds/app/cell.ts'
import { registriesFor } from '../../../controllers/kinds/app/images.ts'
import { escaped, printCells, sourcePolicy } from '../../../crds/app/compose/printing/printcell.ts'
import type { Project } from '../../../crds/app/compose/project.ts'
import type { SealedRelease } from '../../../crds/app/sealed.ts'
import { BUILDER, REGISTRIES } from '../../../crds/host/builds.ts'
import { buildFault } from '../../../crds/host/isolation.ts'
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
  t(
    'is told of its gate behind all else, in lines: the image, and what it lets through; of none where every address is open',
    () => {
      const given = { origin: 'x', budget: { cpuMillis: 1, memoryMib: 1, diskGib: 1 }, builder: 'b', isGuarded: true }
      const tail = (gate: BuildCell['gate'], registries: string[] = []): string[] =>
        cellLines({ project: { services: [] } } as unknown as SealedRelease, { ...given, registries, gate }).slice(10)
      assert.equal(tail(null), [''])
      const [image, config = '', ...lists] = tail({ image: 'g', packages: ['example.org', '*.mirror.example.org'] }, [
        'registry.example.org',
      ])
      assert.is(image, 'g')
      assert.match(config, /^global\\n {2}log stdout/)
      assert.not.match(config, /\n/)
      assert.equal(lists.slice(0, 2), [
        'example.org\\nregistry.example.org\\n',
        '.mirror.example.org\\n.registry.example.org\\n',
      ])
      assert.match(lists[2] ?? '', /^0\.0\.0\.0\/8\\n10\.0\.0\.0\/8\\n/)
      assert.is(lists.length, 3)
      assert.is(tail({ image: 'g', packages: [] })[2], '', 'an empty list is a gate that lets nothing through')
      assert.throws(() => tail({ image: 'g', packages: ['example.org\nserver evil'] }), /is no name of a host/)
    },
  )
  t(
    'takes images of registries that an account has logins for, unless its host names some, or what builds reach',
    () => {
      const mine = ['registry.example.org']
      assert.equal(registriesFor({ registries: REGISTRIES, packages: null }, mine), [...REGISTRIES, ...mine])
      assert.equal(registriesFor({ registries: ['ghcr.io'], packages: null }, mine), ['ghcr.io'])
      assert.equal(registriesFor({ registries: REGISTRIES, packages: [] }, mine), REGISTRIES)
    },
  )
  t('is refused where its root would be root, and named images are not', () => {
    const plain = { name: 'green', remapsUsers: false }
    assert.match(buildFault(plain, [{ build: null }, { build }]) ?? '', /^green .*userns-remap/)
    assert.is(buildFault(plain, [{ build: null }]), null)
    assert.is(buildFault({ ...plain, remapsUsers: true }, [{ build }]), null)
  })
})
