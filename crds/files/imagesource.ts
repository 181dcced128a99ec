/** What the first bytes of a file say that it is. What has none of these marks is not read at all: SVG holds scripts, GIF moves. */
export type ImageSource = 'jpeg' | 'png' | 'webp' | 'avif'

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1')

const AVIF_BRANDS = ['avif', 'avis', 'mif1', 'miaf']

/** Null for everything that is not taken. */
export const imageSourceOf = (bytes: Uint8Array): ImageSource | null => {
  if (ascii(bytes, 0, 3) === '\xff\xd8\xff') return 'jpeg'
  if (ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return 'webp'
  if (ascii(bytes, 4, 8) === 'ftyp' && AVIF_BRANDS.includes(ascii(bytes, 8, 12))) return 'avif'
  return null
}
