/** A process of its own that contends for a lease, so that a test can stop and continue it. Speaks in lines on stdout. */
import { KubeError, makeKube } from '../../../controllers/kube/kube.ts'
import { runLease } from '../../../controllers/kube/lease.ts'

const [kubeconfig = '', namespace = '', name = '', identity = ''] = process.argv.slice(2)
const kube = makeKube({ kubeconfig })
const say = (word: string): void => {
  process.stdout.write(`${word}\n`)
}

const lease = runLease({
  kube,
  namespace,
  name,
  identity,
  leaseMs: 2_000,
  renewMs: 1_300,
  retryMs: 200,
  onLead: async () => say('leading'),
  onLost: () => {
    say(`lost ${lease.isLeader()}`)
    process.exit(1)
  },
})

process.on('SIGTERM', () => {
  lease.stop().then(
    () => process.exit(0),
    (error) => {
      say(error instanceof KubeError ? error.reason : 'failed')
      process.exit(3)
    },
  )
})
