/** A process of its own that contends for a lease, so that a test can stop, continue and kill it. Speaks in lines on stdout. */
import { makeIdentity } from '../../../controllers/kube/identity.ts'
import { KubeError, makeKube } from '../../../controllers/kube/kube.ts'
import { runLease } from '../../../controllers/kube/lease.ts'

const [kubeconfig = '', namespace = '', name = '', host = ''] = process.argv.slice(2)
const identity = makeIdentity({ host, podUid: '' })
const kube = makeKube({ kubeconfig })
const say = (word: string): void => {
  process.stdout.write(`${word}\n`)
}

const lease = runLease({
  kube,
  namespace,
  name,
  identity: identity.name,
  isDead: identity.isDead,
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
