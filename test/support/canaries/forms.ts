/** Encodings under which a secret may lie: as it is, in base64 and hex within something longer, in a URL, and in JSON. */
import type { Canary } from './plant.ts'

/** The characters of base64 that are the secret's alone, where so many bytes stand before it in the same text. */
const within = (bytes: Buffer, before: number): string => {
  const from = Math.ceil((before * 8) / 6)
  const until = Math.floor(((before + bytes.length) * 8) / 6)
  return Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(from, until)
}

const asUrl = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

/** What is looked for, without a line break; none is shorter than the secret but by a few characters of base64's edges. */
export const formsOf = ({ text, bytes }: Canary): string[] => {
  const plain = Buffer.from(text, bytes ? 'base64' : 'utf8')
  const base64 = [0, 1, 2].map((before) => within(plain, before))
  const hex = plain.toString('hex')
  const encoded = [...base64, ...base64.map(asUrl), hex]
  const open = bytes ? [] : [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]
  return [...new Set([...open, ...encoded])].filter((form) => !/[\r\n]/.test(form))
}
