import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePeer, ensurePythonPeer } from '../lib/peer.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { measureEight } from './sides/sites/eight.ts'
import { measurePaints } from './sides/sites/lcp.ts'
import { measurePhotos } from './sides/sites/photos.ts'
import { measurePublish } from './sides/sites/publish.ts'
import { outputOf, pages, type Speed } from './sides/sites/sides.ts'

/**
 * Pages per second from one content to files on disk, beside Eleventy with a Nunjucks template and beside Hugo with one of its own
 * that write the same elements. Each side in a process of its own, alternating rounds, medians, by the clock and by processor time.
 * Hugo is a process each time, as it is used, so it gets many pages. And how long one site of eight pages takes (sides/sites/eight.ts), one
 * with photographs through REST (sides/sites/photos.ts), and when a page is painted on a slow line (sides/sites/lcp.ts).
 */

const ROUNDS = 5
const WARM_ROUNDS = 2
const PEERS = [
  { name: 'eleventy', title: 'Eleventy 3.1.2 with Nunjucks', sites: 60, atLeast: 4, home: ensurePeer },
  { name: 'hugo', title: 'Hugo 0.168.0', sites: 1_000, atLeast: 0.5, home: ensurePythonPeer },
] as const

type Runner = { round(): Promise<Speed>; end(): void }

const startSide = async (name: string, ...args: string[]): Promise<Runner> => {
  const child = fork(join(import.meta.dirname, 'sides', 'sites', 'sides.ts'), [name, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
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
  await measureEight(context)
  await measurePhotos(context)
  await measurePublish(context)
  await measurePaints(context)
  for (const peer of PEERS) await measurePages(context, peer)
}

const measurePages = async ({ figure, progress, scratch }: BenchContext, peer: (typeof PEERS)[number]) => {
  const home = await peer.home(peer.name, { progress })
  const folder = join(scratch, peer.name)
  const start = (side: string) => startSide(side, folder, home, String(peer.sites))
  const sides = { ours: await start('ours'), peer: await start(peer.name) }
  const rounds: { ours: Speed; peer: Speed }[] = []
  try {
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      const [ours, theirs] = [await sides.ours.round(), await sides.peer.round()]
      if (round >= WARM_ROUNDS) rounds.push({ ours, peer: theirs })
    }
  } finally {
    sides.ours.end()
    sides.peer.end()
  }
  const sizeOf = (side: string) => readFileSync(join(outputOf(folder, side), 'site-7', 'shop', 'index.html')).length
  progress.line(`  a shop page: ${sizeOf('ours')} bytes, from ${peer.title} ${sizeOf(peer.name)} bytes`)
  const kinds = [
    ['', 'pages/s', 'perSecond'],
    [', of processor time', 'pages/s CPU', 'perCpuSecond'],
  ] as const
  for (const [what, unit, key] of kinds) {
    figure({
      name: `sites, ${peer.sites} of ${pages.length} pages${what}`,
      value: median(rounds.map(({ ours }) => ours[key])),
      unit,
      peer: peer.title,
      peerValue: median(rounds.map((round) => round.peer[key])),
      goal: { atLeast: peer.atLeast },
    })
  }
}
