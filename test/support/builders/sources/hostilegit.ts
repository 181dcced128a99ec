/** Packs made byte by byte, so that they can be as costly as a caller likes, and a server of git that answers with them. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateSync } from 'node:zlib'

type Sort = 'commit' | 'tree' | 'blob'
/** `delta`: against the object before it. */
export type PackedObject = { sort: Sort; content: Buffer } | { delta: Buffer }

const NUMBERS = { commit: 1, tree: 2, blob: 3 } as const
const OFFSET_DELTA = 6

export const nameOfObject = (sort: Sort, content: Buffer): string =>
  createHash('sha1').update(`${sort} ${content.length}\0`).update(content).digest('hex')

/** Groups of seven bits, the lowest first. */
export const grouped = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 0x80, ...grouped(Math.floor(value / 128))]

const headOf = (number: number, size: number): Buffer => {
  const rest = Math.floor(size / 16)
  return Buffer.from([(number << 4) | (size % 16) | (rest > 0 ? 0x80 : 0), ...(rest > 0 ? grouped(rest) : [])])
}

/** How far back an object lies (gitformat-pack, "offset encoding"). */
const backBy = (distance: number): Buffer => {
  const bytes = [distance % 128]
  for (let left = Math.floor(distance / 128); left > 0; left = Math.floor(left / 128)) {
    left -= 1
    bytes.unshift((left % 128) | 0x80)
  }
  return Buffer.from(bytes)
}

export const packOf = (objects: readonly PackedObject[]): Buffer => {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  const parts: Buffer[] = [head]
  let before = 0
  for (const object of objects) {
    const packed =
      'delta' in object
        ? [headOf(OFFSET_DELTA, object.delta.length), backBy(before), deflateSync(object.delta)]
        : [headOf(NUMBERS[object.sort], object.content.length), deflateSync(object.content)]
    before = packed.reduce((sum, part) => sum + part.length, 0)
    parts.push(...packed)
  }
  const all = Buffer.concat(parts)
  return Buffer.concat([all, createHash('sha1').update(all).digest()])
}

export const treeOf = (entries: readonly { mode: string; name: string; object: string }[]): Buffer =>
  Buffer.concat(
    entries.flatMap(({ mode, name, object }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(object, 'hex')]),
  )

export const commitOf = (tree: string): Buffer =>
  Buffer.from(`tree ${tree}\nauthor T <t@t.test> 0 +0000\ncommitter T <t@t.test> 0 +0000\n\nnext\n`)

/** A commit, and what hangs on it. */
export type Hostile = { commit: string; pack: Buffer }

export const commitOver = (objects: readonly PackedObject[], tree: Buffer): Hostile => {
  const commit = commitOf(nameOfObject('tree', tree))
  const pack = packOf([...objects, { sort: 'tree', content: tree }, { sort: 'commit', content: commit }])
  return { commit: nameOfObject('commit', commit), pack }
}

/** Some trees, each of which names the next `width` times: `width` to the power of `levels` files. */
export const gitBomb = (levels: number, width: number): Hostile => {
  const blob = Buffer.from('x')
  const objects: PackedObject[] = [{ sort: 'blob', content: blob }]
  let entry = { mode: '100644', object: nameOfObject('blob', blob) }
  for (let level = 0; level < levels - 1; level++) {
    const tree = treeOf(Array.from({ length: width }, (_, n) => ({ ...entry, name: `n${n}` })))
    objects.push({ sort: 'tree', content: tree })
    entry = { mode: '40000', object: nameOfObject('tree', tree) }
  }
  return commitOver(objects, treeOf(Array.from({ length: width }, (_, n) => ({ ...entry, name: `n${n}` }))))
}

/** A file that is made of another byte by byte: each word of the delta copies one. */
export const byteByByte = (bytes: number): Hostile => {
  const base = Buffer.from('0123456789')
  const words = Buffer.alloc(bytes * 3)
  for (let n = 0; n < bytes; n++) words.set([0x91, n % base.length, 1], n * 3)
  const delta = Buffer.concat([Buffer.from([...grouped(base.length), ...grouped(bytes)]), words])
  const tree = treeOf([{ mode: '100644', name: 'base', object: nameOfObject('blob', base) }])
  return commitOver([{ sort: 'blob', content: base }, { delta }], tree)
}

/** A file as it is, beside a compose file. */
export const plainCommit = (compose: string, content: Buffer): Hostile => {
  const text = Buffer.from(compose)
  const tree = treeOf([
    { mode: '100644', name: 'compose.yaml', object: nameOfObject('blob', text) },
    { mode: '100644', name: 'data.bin', object: nameOfObject('blob', content) },
  ])
  return commitOver(
    [
      { sort: 'blob', content: text },
      { sort: 'blob', content },
    ],
    tree,
  )
}

const line = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])

/** What a server says to `fetch`: the pack in packets of so many bytes. */
export const inPackets = (pack: Buffer, packetBytes: number): Buffer => {
  const count = Math.ceil(pack.length / packetBytes)
  const said = Buffer.alloc(pack.length + count * 5)
  let at = 0
  for (let from = 0; from < pack.length; from += packetBytes) {
    const part = pack.subarray(from, from + packetBytes)
    at += said.write((part.length + 5).toString(16).padStart(4, '0'), at, 'latin1')
    said[at] = 1
    at += 1 + part.copy(said, at + 1)
  }
  return Buffer.concat([line(Buffer.from('packfile\n')), said.subarray(0, at), Buffer.from('0000')])
}

export type HostileServer = {
  /** From now on this is what `main` leads to. */
  serve(hostile: Hostile, packetBytes?: number): void
  url: string
  end(): Promise<void>
}

/** Speaks as much of the protocol as is asked of it (gitprotocol-v2). */
export const startHostileServer = async (): Promise<HostileServer> => {
  let commit = ''
  let said = Buffer.alloc(0)
  const server = createServer((request, response) => {
    // a test that makes something large for long lets connections lapse
    response.shouldKeepAlive = false
    if (request.method === 'GET')
      return void response.end(Buffer.concat([line(Buffer.from('version 2\n')), Buffer.from('0000')]))
    let asked = ''
    request.on('data', (chunk) => {
      asked += String(chunk)
    })
    request.on('end', () => {
      const refs = Buffer.concat([line(Buffer.from(`${commit} refs/heads/main\n`)), Buffer.from('0000')])
      response.end(asked.includes('command=ls-refs') ? refs : said)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    serve: (hostile, packetBytes = 60_000) => {
      commit = hostile.commit
      said = Buffer.from(inPackets(hostile.pack, packetBytes))
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop.git`,
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
