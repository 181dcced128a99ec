import { crc32, deflateSync } from 'node:zlib'

const chunk = (type: string, content: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

/** A PNG of one pixel, good in each of its parts (PNG, section 5), with a text beside it that makes it as large as is asked. */
export const pictureOf = (bytes: number): Buffer => {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(1, 0)
  head.writeUInt32BE(1, 4)
  head.set([8, 2], 8)
  const text = Buffer.alloc(Math.max(10, bytes - 100), 'a')
  text.set(Buffer.from('Comment\0', 'latin1'))
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('tEXt', text),
    chunk('IDAT', deflateSync(Buffer.from([0, 1, 2, 3]))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
