/** Public host keys: the line that is pinned, its bytes, and the fingerprint that people compare (RFC 4253 6.6, RFC 4716). */
import { createHash } from 'node:crypto'
import { trimmedEnd } from '../values/trimmed.ts'

/** The bytes that the host shows when it connects, or null when the base64 does not hold a key of the named type. */
export const hostKeyBytes = (line: string): Buffer | null => {
  const [type = '', base64 = ''] = line.split(' ')
  const bytes = Buffer.from(base64, 'base64')
  if (trimmedEnd(bytes.toString('base64'), '=') !== trimmedEnd(base64, '=') || bytes.length < 4) return null
  const length = bytes.readUInt32BE(0)
  if (bytes.length <= 4 + length) return null
  return bytes.subarray(4, 4 + length).toString('latin1') === type ? bytes : null
}

/** `SHA256:…`, as ssh-keygen -l prints it, of a key in wire form. */
export const fingerprintOfBytes = (bytes: Buffer): string =>
  `SHA256:${trimmedEnd(createHash('sha256').update(bytes).digest('base64'), '=')}`

/** The same of a line as it is pinned; empty where that holds no key. */
export const fingerprintOf = (line: string): string => {
  const bytes = hostKeyBytes(line)
  return bytes === null ? '' : fingerprintOfBytes(bytes)
}
