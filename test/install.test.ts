/** What npm brings runs without a line of its own having run on this machine: no install script is needed by anything here. */
import { generateKeyPairSync } from 'node:crypto'
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { linkLibraries } from '../hack/platform/pgfiles.ts'
import { assert, spec } from './support/runner/spec.ts'

const root = join(import.meta.dirname, '..')
const SCRIPTS = ['hack/**/*.{ts,sh}', 'test/support/**/*.ts', '.ci/*']

/** Each call of npm that installs, as it stands in a script; prose that names the command is none. */
const installsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => /(&& |^\s*)npm (ci|install|i)\b|'npm', \[|\['ci', /.test(line))
    .map((line) => line.trim())

spec('npm', (t) => {
  t('runs no install script, whoever calls it', () => {
    assert.match(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m)
    const calls = globSync(SCRIPTS, { cwd: root }).flatMap((path) =>
      installsIn(readFileSync(join(root, path), 'utf8')).map((line) => `${path}: ${line}`),
    )
    assert.ok(calls.length >= 2, calls.join('\n'))
    assert.equal(
      calls.filter((call) => !call.includes('--ignore-scripts')),
      [],
    )
  })

  t('would see a call that lets them run', () => {
    assert.is(
      installsIn(`(cd x && npm ci --no-audit)\n  npm install y\nspawnSync('npm', ['ci', 'x'])\nsay "npm ci"`).length,
      3,
    )
  })

  t('names no package whose scripts may run', () => {
    const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.equal(Object.values(allowScripts).filter(Boolean), [])
  })
})

spec('PostgreSQL from npm', (t) => {
  const folder = mkdtempSync('/tmp/bottega-test-install-')
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t('is given the names of its libraries here, relative and once', () => {
    mkdirSync(join(folder, 'native', 'lib'), { recursive: true })
    writeFileSync(join(folder, 'native', 'lib', 'libpq.so.5.18'), 'x')
    const links = [
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so' },
    ]
    writeFileSync(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
    for (let times = 0; times < 2; times++) linkLibraries(join(folder, 'native'))
    assert.is(readlinkSync(join(folder, 'native', 'lib', 'libpq.so.5')), 'libpq.so.5.18')
    assert.ok(lstatSync(join(folder, 'native', 'lib', 'libpq.so')).isSymbolicLink())
  })

  t('is left alone where a package has no such list, and refuses a name outside of it', () => {
    mkdirSync(join(folder, 'bare', 'lib'), { recursive: true })
    linkLibraries(join(folder, 'bare'))
    const links = [{ source: 'native/lib/x', target: '../../stray' }]
    writeFileSync(join(folder, 'bare', 'pg-symlinks.json'), JSON.stringify(links))
    assert.throws(() => linkLibraries(join(folder, 'bare')), /stray/)
    assert.not.ok(existsSync(join(folder, '..', 'stray')))
  })
})

spec('SSH', (t) => {
  t('logs in and runs a command with none of its two native parts', async () => {
    const built = globSync('node_modules/{cpu-features,ssh2}/**/*.node', { cwd: root })
    assert.equal(built, [], 'the packages of this checkout were installed with their scripts: remove node_modules')
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const server = new ssh2.Server({ hostKeys: [privateKey] }, (peer) => {
      peer.on('authentication', (asked) =>
        asked.method === 'publickey' ? asked.accept() : asked.reject(['publickey']),
      )
      peer.on('session', (accept) =>
        accept().on('exec', (take, _refuse, { command }) => {
          const channel = take()
          channel.write(command.toUpperCase())
          channel.exit(0)
          channel.end()
        }),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = new ssh2.Client()
    try {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      client.on('error', reject)
      client.on('ready', () =>
        client.exec('hello', (error, channel) => {
          if (error) return reject(error)
          channel.on('data', (bytes: Buffer) => resolve(bytes.toString()))
        }),
      )
      client.connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, username: 'a', privateKey })
      assert.is(await promise, 'HELLO')
    } finally {
      client.end()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  })
})
