import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GATE, gateList, PACKAGE_HOST_PATTERN, REGISTRIES, sayReach } from '../../../crds/host/builds.ts'
import { hostFaults } from '../../../crds/host/faults.ts'
import { gateFiles } from '../../../crds/host/gate.ts'
import { CLOSED_RANGES } from '../../../crds/host/isolation.ts'
import { ensurePackages } from '../../../hack/lib/apt.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const PATTERN = new RegExp(PACKAGE_HOST_PATTERN, 'u')

/** What somebody would write to get something else into a gate. */
const FORGED = [
  'example.org\nserver evil 192.0.2.1:443',
  'example.org }',
  'example.org{',
  '*',
  '*.org',
  '**.example.org',
  'a.*.example.org',
  '*example.org',
  '.example.org',
  'example.org.',
  'Example.org',
  'example',
  'example.org:443',
  'https://example.org',
  'example.org/x',
  '192.0.2.7',
  '127.0.0.1',
  '[::1]',
  '-f',
  '',
  ' example.org',
  'example.org ',
  '#example.org',
  '%[env(HOME)].example.org',
  'a'.repeat(64).concat('.example.org'),
]

spec('packages of a host', (t) => {
  t('are names, and all names below one', () => {
    for (const name of [
      'example.org',
      'a.b-c.example.org',
      '*.example.org',
      'xn--bcher-kva.example.org',
      '1.example.org',
    ])
      assert.ok(PATTERN.test(name), name)
    for (const name of FORGED) assert.not.ok(PATTERN.test(name), JSON.stringify(name))
  })
  t('are refused where strangers have names below one', () => {
    const faults = hostFaults({ packages: ['example.org', '*.co.uk', '*.example.org'] }, 'any')
    assert.equal(
      faults.map(({ code, pointer }) => `${code} ${pointer}`),
      ['BAD_DOMAIN /packages/1'],
    )
  })
  t('are told in the condition, and so is that there are none', () => {
    assert.match(sayReach(undefined), /every public address/)
    assert.match(sayReach([]), /nothing but images of registries and the 0 names/)
    assert.match(sayReach(['example.org']), /the 1 name of packages/)
  })
})

spec('what a gate lets through', (t) => {
  t('is what is named, and below what is named with a star, not the name itself', () => {
    assert.equal(gateList(['example.org', '*.mirror.example.org', 'example.org'], []), {
      names: ['example.org'],
      below: ['.mirror.example.org'],
    })
  })
  t('is the registries, all below them, and where they send who pulls', () => {
    const { names, below } = gateList([], ['registry.example.org', 'ghcr.io'])
    assert.equal(names, ['registry.example.org', 'ghcr.io', 'pkg-containers.githubusercontent.com'])
    assert.equal(below, ['.registry.example.org', '.ghcr.io'])
    assert.equal(gateList([], []), { names: [], below: [] })
    for (const name of REGISTRIES) assert.ok(gateList([], REGISTRIES).names.includes(name), name)
  })
  t('is nothing that is no name, whoever asks', () => {
    for (const name of FORGED) {
      assert.throws(() => gateList([name], []), /is no name of a host/, JSON.stringify(name))
      if (!name.startsWith('*.'))
        assert.throws(() => gateList([], [name]), /is no name of a host/, JSON.stringify(name))
    }
  })
})

spec('the configuration of a gate', (t) => {
  const names = ['packages.example.org', '*.mirror.example.org']

  t('holds no name: they stand in lists, a line each', () => {
    const files = gateFiles(names, ['registry.example.org'])
    assert.not.match(files['gate.cfg'], /example/)
    assert.is(files['gate.cfg'], gateFiles([], [])['gate.cfg'])
    assert.is(files.names, 'packages.example.org\nregistry.example.org\n')
    assert.is(files.below, '.mirror.example.org\n.registry.example.org\n')
    assert.equal(files.closed.trim().split('\n'), [...CLOSED_RANGES])
  })
  t('is one that HAProxy takes, with a list and with an empty one', () => {
    ensurePackages([{ name: 'haproxy', files: ['/usr/sbin/haproxy'] }], { what: 'The gate of a build' })
    for (const given of [names, []]) {
      const folder = mkdtempSync(join(tmpdir(), 'bottega-gate-'))
      const files = Object.entries(gateFiles(given, []))
      for (const [name, text] of files) writeFileSync(join(folder, name), text.replaceAll('/gate/', `${folder}/`))
      writeFileSync(join(folder, 'servers.cfg'), 'resolvers host\n  nameserver n1 192.0.2.53:53\n')
      const check = ['-c', '-f', join(folder, 'gate.cfg'), '-f', join(folder, 'servers.cfg')]
      const said = execFileSync('/usr/sbin/haproxy', check, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
      assert.match(said, /Configuration file is valid/)
      rmSync(folder, { recursive: true })
    }
  })
  t('runs in an image that is named by its digest', () => {
    assert.match(GATE, /^docker\.io\/library\/haproxy:[\d.]+-alpine@sha256:[0-9a-f]{64}$/)
  })
})
