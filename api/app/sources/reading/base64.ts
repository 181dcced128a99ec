/** Base64 (RFC 4648 section 4) that is undone piece by piece: contents are as long as an upload may be. */
import type { FlowingFile } from '../../../io/archive.ts'

/** Four characters are three bytes. */
const SLICE_CHARS = 65_536
const PAD = 0x3d
const PADS_MAX = 2

const isDigit = new Uint8Array(256)
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') isDigit[sign.charCodeAt(0)] = 1

const padsOf = (characters: Buffer): number => {
  let pads = 0
  while (pads < PADS_MAX && characters[characters.length - 1 - pads] === PAD) pads++
  return pads
}

function* piecesOf(characters: Buffer): Generator<Buffer> {
  for (let at = 0; at < characters.length; at += SLICE_CHARS)
    yield Buffer.from(characters.toString('latin1', at, Math.min(at + SLICE_CHARS, characters.length)), 'base64')
}

/** How much it is and what it is; null where it is no base64 with its padding. */
export const base64In = (text: () => Buffer): Pick<FlowingFile, 'bytes' | 'content'> | null => {
  const characters = text()
  if (characters.length % 4 !== 0) return null
  const pads = padsOf(characters)
  for (let at = 0; at < characters.length - pads; at++) if (isDigit[characters[at] as number] === 0) return null
  return { bytes: (characters.length / 4) * 3 - pads, content: () => piecesOf(text()) }
}
