/**
 * Public keys that people log in with to dev instances, as OpenSSH writes them: read to the last byte, so that a line of
 * authorized_keys is what it seems. Source: rules/account.md#ssh-keys; RFC 4253 (6.6), RFC 5656 (3.1), RFC 8709 (4), sshd(8).
 */
import { createHash } from 'node:crypto'

/** Keys of one account. */
export const SSH_KEYS_MAX = 20
/** RSA of 16,384 bits has less than 3,000 characters. */
export const SSH_KEY_CHARS_MAX = 8192
const RSA_BITS_MIN = 2048

/** `line` is the type and the key, without options and without a comment; `fingerprint` as `ssh-keygen -l` tells it. */
export type PublicKey = { type: string; line: string; fingerprint: string }
export type PublicKeyRead = ({ ok: true } & PublicKey) | { ok: false; detail: string }

type Fault = string | null
const isText = (bytes: Buffer, text: string): boolean => bytes.equals(Buffer.from(text, 'latin1'))

const ed25519: (parts: Buffer[]) => Fault = ([key]) => (key?.length === 32 ? null : 'its key is not 32 bytes')
/** An uncompressed point of the curve that the type names. */
const ecdsa =
  (curve: string, coordinateBytes: number) =>
  ([named, point]: Buffer[]): Fault => {
    if (!named || !isText(named, curve)) return `its curve is not ${curve}`
    return point?.[0] === 4 && point.length === 1 + 2 * coordinateBytes ? null : 'its point is no point of the curve'
  }
const rsa = ([exponent, modulus]: Buffer[]): Fault => {
  const significant = modulus?.[0] === 0 ? modulus.subarray(1) : modulus
  const bits = significant?.length ? significant.length * 8 - Math.clz32(significant[0] ?? 0) + 24 : 0
  if (!exponent?.length) return 'it has no exponent'
  return bits >= RSA_BITS_MIN ? null : `it has ${bits} bits, at least ${RSA_BITS_MIN}`
}
/** Of a hardware key: with what it was made for. */
const onHardware =
  (count: number, check: (parts: Buffer[]) => Fault) =>
  (parts: Buffer[]): Fault =>
    parts[count]?.length ? check(parts) : 'it does not say what it was made for'

/** How many strings follow the type, and what is wrong with them. */
const TYPES: Readonly<Record<string, { parts: number; fault(parts: Buffer[]): Fault }>> = {
  'ssh-ed25519': { parts: 1, fault: ed25519 },
  'ecdsa-sha2-nistp256': { parts: 2, fault: ecdsa('nistp256', 32) },
  'ecdsa-sha2-nistp384': { parts: 2, fault: ecdsa('nistp384', 48) },
  'ecdsa-sha2-nistp521': { parts: 2, fault: ecdsa('nistp521', 66) },
  'ssh-rsa': { parts: 2, fault: rsa },
  'sk-ssh-ed25519@openssh.com': { parts: 2, fault: onHardware(1, ed25519) },
  'sk-ecdsa-sha2-nistp256@openssh.com': { parts: 3, fault: onHardware(2, ecdsa('nistp256', 32)) },
}
export const PUBLIC_KEY_TYPES: readonly string[] = Object.keys(TYPES)

/** The strings that a key is made of (RFC 4251, 5); null where they do not end with the bytes. */
const stringsOf = (bytes: Buffer): Buffer[] | null => {
  const strings: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    if (at + 4 > bytes.length) return null
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return null
    strings.push(bytes.subarray(at + 4, end))
    at = end
  }
  return strings
}

const refused = (detail: string): PublicKeyRead => ({ ok: false, detail })

/** Reads one line as `ssh-keygen` writes it into a `.pub` file. What is wrong is told without a word of the text. */
export const readPublicKey = (text: string): PublicKeyRead => {
  const line = text.trim()
  if (/PRIVATE KEY/.test(line)) return refused('it is a private key: keep it, and send the line of its .pub file')
  if (/[\r\n]/.test(line)) return refused('it is more than one line')
  const [type = '', encoded = ''] = line.split(/[ \t]+/, 2)
  const known = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (!known) return refused(`it begins with none of ${PUBLIC_KEY_TYPES.join(', ')}`)
  const bytes = Buffer.from(encoded, 'base64')
  if (encoded === '' || bytes.toString('base64') !== encoded) return refused('its key is not base64')
  const [named, ...parts] = stringsOf(bytes) ?? []
  if (!named || !isText(named, type)) return refused('its key is not of the type that it begins with')
  if (parts.length !== known.parts) return refused('its key is cut off, or longer than it should be')
  const fault = known.fault(parts)
  if (fault !== null) return refused(fault)
  const digest = createHash('sha256').update(bytes).digest('base64').replaceAll('=', '')
  return { ok: true, type, line: `${type} ${encoded}`, fingerprint: `SHA256:${digest}` }
}
