import { startClusterStage } from '../stage/clusterstage.ts'
import { chartFolder } from '../stage/helm.ts'
import type { BenchContext } from './sides/figure.ts'

/** How long a first installation takes on a fresh node, from the command to every pod ready, beside what is allowed. */

const limitSeconds = 120

export async function bench({ figure, progress }: BenchContext): Promise<void> {
  const stage = await startClusterStage({ owner: `bench-chart-${process.pid}`, progress })
  try {
    const step = progress.step('helm install --wait')
    const startedMs = performance.now()
    const place = ['--namespace', 'bottega', '--create-namespace']
    await stage.helm(['install', 'bottega', chartFolder, ...place, '--values', stage.values, '--wait', '--timeout=10m'])
    const value = (performance.now() - startedMs) / 1000
    step.done()
    const name = 'helm install --wait on a fresh node'
    figure({ name, value, unit: 's', peer: 'the limit', peerValue: limitSeconds, goal: { atMost: 1 } })
  } finally {
    await stage.end()
  }
}
