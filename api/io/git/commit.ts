/** What a server of git answered to `fetch`, as the files of the commit. Costly on purpose of whoever serves it: done in a thread. */
import { type PackLimits, readPack } from './pack.ts'
import { eachPacket, GitRefused, lineIn } from './packets.ts'
import { filesOfCommit, type GitFile } from './tree.ts'

/** Packed (fetch.ts) it is less; unpacked with all folders. */
const LIMITS: PackLimits = { objectsMax: 40_000, bytesMax: 150_000_000 }

/** The bands of a packfile section: the pack, what goes on, and why it goes no further. */
const [PACK_BAND, FAULT_BAND] = [1, 3]

/**
 * What the bands of the answer's packfile section carry, moved together to its beginning: no other bytes are taken for it.
 * @returns a part of the answer, which is an answer no more @throws GitRefused
 */
export const packIn = (answer: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> => {
  let end = 0
  let isPack = false
  eachPacket(answer, (from, to) => {
    if (!isPack) {
      const line = lineIn(answer, from, to)
      if (line.startsWith('ERR ')) throw new GitRefused(`says: ${line.slice(4, 204)}`)
      isPack = line === 'packfile'
      return undefined
    }
    const band = answer[from]
    if (band === FAULT_BAND)
      throw new GitRefused(`says: ${answer.toString('utf8', from + 1, Math.min(to, from + 201)).trim()}`)
    if (band === PACK_BAND) {
      answer.copyWithin(end, from + 1, to)
      end += to - from - 1
    }
    return undefined
  })
  return answer.subarray(0, end)
}

/** @throws GitRefused for what is broken or no tree of plain files; GitTooLarge */
export const filesIn = (pack: Buffer, commit: string): GitFile[] => filesOfCommit(readPack(pack, LIMITS), commit)
