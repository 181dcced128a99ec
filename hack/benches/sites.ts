import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePeer } from '../lib/peer.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { measurePhotos } from './sides/photos.ts'
import { outputOf, pages, SITES, type Speed } from './sides/sitesides.ts'

/**
 * Pages per second from one content to files on disk, beside Eleventy with a Nunjucks template that writes the same elements.
 * Each side in a process of its own, warm, alternating rounds, medians, by the clock and by processor time. And one site with
 * photographs through REST (sides/photos.ts).
 */

const ROUNDS = 5
const WARM_ROUNDS = 2
const RATIO_MIN = 4

type Runner = { round(): Promise<Speed>; end(): void }

const startSide = async (name: 'ours' | 'peer', scratch: string, home: string): Promise<Runner> => {
  const child = fork(join(import.meta.dirname, 'sides', 'sitesides.ts'), [name, scratch, home], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const answer = async (): Promise<unknown> => {
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the side ${name} ended with ${code}`)
    })
    ended.catch(() => {}) // it ends for good once all is measured
    const [said] = await Promise.race([once(child, 'message'), ended])
    return said
  }
  await answer()
  return {
    async round() {
      const said = answer()
      child.send('round')
      return (await said) as Speed
    },
    end: () => void child.kill(),
  }
}

export async function bench(context: BenchContext): Promise<void> {
  await measurePhotos(context)
  await measurePages(context)
}

const measurePages = async ({ figure, progress, scratch }: BenchContext): Promise<void> => {
  const home = await ensurePeer('eleventy', { progress })
  const sides = { ours: await startSide('ours', scratch, home), peer: await startSide('peer', scratch, home) }
  const rounds: { ours: Speed; peer: Speed }[] = []
  try {
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      const [ours, peer] = [await sides.ours.round(), await sides.peer.round()]
      if (round >= WARM_ROUNDS) rounds.push({ ours, peer })
    }
  } finally {
    sides.ours.end()
    sides.peer.end()
  }
  const sizeOf = (name: string) => readFileSync(join(outputOf(scratch, name), 'site-7', 'shop', 'index.html')).length
  progress.line(`  a shop page: ${sizeOf('ours')} bytes, from Eleventy ${sizeOf('peer')} bytes`)
  const kinds = [
    ['', 'pages/s', 'perSecond'],
    [', of processor time', 'pages/s CPU', 'perCpuSecond'],
  ] as const
  for (const [what, unit, key] of kinds) {
    figure({
      name: `sites, ${SITES} of ${pages.length} pages${what}`,
      value: median(rounds.map(({ ours }) => ours[key])),
      unit,
      peer: 'Eleventy 3.1.2 with Nunjucks',
      peerValue: median(rounds.map(({ peer }) => peer[key])),
      goal: { atLeast: RATIO_MIN },
    })
  }
}
