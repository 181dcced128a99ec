/**
 * IP addresses as bytes, and which of them the whole internet shares. Whoever connects to an address that a user chose
 * asks here first, about the address itself and never about a name (rules/platform.md#public-addresses).
 * Source: the special-purpose registries of IANA (RFC 6890, as of 2026).
 */

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

const bytesOfV4 = (text: string): number[] | null => {
  const parts = V4.exec(text)?.slice(1)
  // 010 is eight to some readers and ten to others.
  if (!parts || parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return null
  return parts.map(Number)
}

const V6_GROUPS = 8

const groupsOf = (text: string): number[] | null => {
  if (text === '') return []
  const groups = text.split(':')
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : null
}

/** The last 32 bits may be written as IPv4. */
const withoutV4 = (text: string): string | null => {
  const tail = /^(.*:)([0-9]+\.[0-9.]+)$/.exec(text)
  if (!tail) return text
  const [a = 0, b = 0, c = 0, d = 0] = bytesOfV4(tail[2] ?? '') ?? []
  if (bytesOfV4(tail[2] ?? '') === null) return null
  return `${tail[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

const bytesOfV6 = (text: string): number[] | null => {
  const whole = withoutV4(text)
  if (whole === null) return null
  const halves = whole.split('::')
  if (halves.length > 2) return null
  const [head, rest] = halves.map(groupsOf)
  if (!head || rest === null) return null
  const missing = V6_GROUPS - head.length - (rest?.length ?? 0)
  if (rest === undefined ? missing !== 0 : missing < 1) return null
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...(rest ?? [])]
  return groups.flatMap((group) => [group >> 8, group & 255])
}

/** The 4 or 16 bytes of an address, null when the text is none. A zone (`%eth0`) and brackets are no part of one. */
export const bytesOfAddress = (text: string): number[] | null =>
  text.includes(':') ? bytesOfV6(text) : bytesOfV4(text)

type Range = readonly [address: string, bits: number]

/** Not for the internet: this host, private, shared, link, loopback, protocol, documentation, tests, multicast, reserved. */
const NOT_PUBLIC_V4: readonly Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
/** The same as CIDR, for packet filters. */
export const NOT_PUBLIC_RANGES: readonly string[] = NOT_PUBLIC_V4.map(([address, bits]) => `${address}/${bits}`)

/** All that is public lies in here; mapped, translated, unique local and link-local addresses do not. */
const GLOBAL_V6: Range = ['2000::', 3]
/** Protocol assignments with Teredo, documentation, 6to4 (which leads to any IPv4 address), documentation. */
const NOT_PUBLIC_V6: readonly Range[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const cidrOf = ([address, bits]: Range): string => `${address}/${bits}`

/** The same as blocks of addresses, for packet filters. */
export const PUBLIC_BLOCKS: readonly { cidr: string; except: string[] }[] = [
  { cidr: '0.0.0.0/0', except: NOT_PUBLIC_V4.map(cidrOf) },
  { cidr: cidrOf(GLOBAL_V6), except: NOT_PUBLIC_V6.map(cidrOf) },
]

const isIn = (bytes: readonly number[], [address, bits]: Range): boolean => {
  const range = bytesOfAddress(address) ?? []
  return bytes.every((byte, index) => {
    const shown = Math.min(8, Math.max(0, bits - index * 8))
    const mask = (0xff << (8 - shown)) & 0xff
    return (byte & mask) === ((range[index] ?? 0) & mask)
  })
}

/** Whether everybody on the internet means the same machine by this address. False for what is no address. */
export const isPublicAddress = (text: string): boolean => {
  const bytes = bytesOfAddress(text)
  if (bytes === null) return false
  if (bytes.length === 4) return !NOT_PUBLIC_V4.some((range) => isIn(bytes, range))
  return isIn(bytes, GLOBAL_V6) && !NOT_PUBLIC_V6.some((range) => isIn(bytes, range))
}

/** 127.0.0.0/8 and ::1, also written as an IPv4-mapped address. */
export const isLoopbackAddress = (text: string): boolean => {
  const bytes = bytesOfAddress(text)
  if (bytes === null) return false
  if (bytes.length === 4) return bytes[0] === 127
  return isIn(bytes, ['::1', 128]) || isIn(bytes, ['::ffff:127.0.0.0', 104])
}
