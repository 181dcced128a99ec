/** Public keys as ssh-keygen writes them, and what is none. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPublicKey } from '../../../crds/text/sshkeys.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A string of RFC 4251. */
const string = (bytes: Buffer | string): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, Buffer.from(bytes as Buffer)])
}
const lineOf = (type: string, ...parts: (Buffer | string)[]): string =>
  `${type} ${Buffer.concat([type, ...parts].map(string)).toString('base64')}`
const refusal = (text: string): string => {
  const read = readPublicKey(text)
  return read.ok ? 'taken' : read.detail
}

spec('a public key', (t) => {
  let folder: string
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-keys-'))
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const made = (...args: string[]): string => {
    const path = join(folder, args.join('-'))
    execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'a person@her laptop', '-t', ...args, '-f', path])
    return path
  }
  const fingerprintOf = (path: string): string =>
    execFileSync('ssh-keygen', ['-lf', path], { encoding: 'utf8' }).split(' ')[1] ?? ''

  for (const args of [
    ['ed25519'],
    ['ecdsa', '-b', '256'],
    ['ecdsa', '-b', '384'],
    ['ecdsa', '-b', '521'],
    ['rsa', '-b', '2048'],
  ]) {
    t(`of ${args.join(' ')} is read without its comment, with the fingerprint that ssh-keygen tells`, () => {
      const path = `${made(...args)}.pub`
      const text = readFileSync(path, 'utf8')
      const read = readPublicKey(text)
      assert.ok(read.ok)
      if (!read.ok) return
      assert.equal([read.line, read.fingerprint], [text.split(' ').slice(0, 2).join(' '), fingerprintOf(path)])
    })
  }
  t('of a hardware key is read', () => {
    for (const line of [
      lineOf('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 7), 'ssh:'),
      lineOf(
        'sk-ecdsa-sha2-nistp256@openssh.com',
        'nistp256',
        Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]),
        'ssh:',
      ),
    ]) {
      assert.ok(readPublicKey(line).ok, line)
    }
  })
  t('is refused where it is none that logs in, in words that hold nothing of it', () => {
    const key = Buffer.alloc(32, 7)
    const good = lineOf('ssh-ed25519', key)
    const cases: [string, string | RegExp][] = [
      [readFileSync(made('ed25519', '-a', '1'), 'utf8'), /private key/],
      [readFileSync(`${made('rsa', '-b', '1024')}.pub`, 'utf8'), 'it has 1024 bits, at least 2048'],
      [`command="id" ${good}`, /begins with none of/],
      [`${good}\n${good}`, 'it is more than one line'],
      ['', /begins with none of/],
      ['ssh-ed25519', 'its key is not base64'],
      [`${good.slice(0, -1)}*`, 'its key is not base64'],
      [good.slice(0, -4), 'its key is not of the type that it begins with'],
      [good.replace('ssh-ed25519 ', 'ssh-rsa '), 'its key is not of the type that it begins with'],
      [lineOf('ssh-ed25519', key, 'more'), 'its key is cut off, or longer than it should be'],
      [lineOf('ssh-ed25519', Buffer.alloc(31)), 'its key is not 32 bytes'],
      [lineOf('ssh-dss', key, key, key, key), /begins with none of/],
      [lineOf('ssh-ed25519-cert-v01@openssh.com', key), /begins with none of/],
      [lineOf('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(65, 4)), 'its curve is not nistp256'],
      [lineOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 3)), 'its point is no point of the curve'],
      [lineOf('sk-ssh-ed25519@openssh.com', key, ''), 'it does not say what it was made for'],
    ]
    for (const [text, wanted] of cases) {
      if (typeof wanted === 'string') assert.is(refusal(text), wanted, text)
      else assert.match(refusal(text), wanted)
    }
  })
})
