/** Which packet rules a node takes away when it ends, and which it leaves alone. */
import { removalOf } from '../../hack/stage/node/firewall.ts'
import { assert, spec } from '../support/runner/spec.ts'

const listing = `-P PREROUTING ACCEPT
-P POSTROUTING ACCEPT
-N CNI-5a2ae78dbbee26fdce4bd9b7
-N CNI-ffffffffffffffffffffffff
-N DOCKER
-N KUBE-SERVICES
-N KUBE-SVC-NPX46M4PTMTKRN6Y
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
-A POSTROUTING -s 10.244.0.5/32 -m comment --comment "name: \\"bottega\\" id: \\"f00\\"" -j CNI-5a2ae78dbbee26fdce4bd9b7
-A POSTROUTING -s 10.88.0.5/32 -m comment --comment "name: \\"podman\\" id: \\"f00\\"" -j CNI-ffffffffffffffffffffffff
-A CNI-5a2ae78dbbee26fdce4bd9b7 -d 10.244.0.0/24 -m comment --comment "name: \\"bottega\\" id: \\"f00\\"" -j ACCEPT
-A CNI-ffffffffffffffffffffffff -d 10.88.0.0/16 -m comment --comment "name: \\"podman\\" id: \\"f00\\"" -j ACCEPT
-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -j KUBE-SVC-NPX46M4PTMTKRN6Y
`

spec('the packet rules of a node', (t) => {
  t('go with their chains, hooks first, and nobody else loses one', () => {
    assert.equal(removalOf(listing), [
      '-D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-D POSTROUTING -s 10.244.0.5/32 -m comment --comment "name: \\"bottega\\" id: \\"f00\\"" -j CNI-5a2ae78dbbee26fdce4bd9b7',
      '-F CNI-5a2ae78dbbee26fdce4bd9b7',
      '-F KUBE-SERVICES',
      '-F KUBE-SVC-NPX46M4PTMTKRN6Y',
      '-X CNI-5a2ae78dbbee26fdce4bd9b7',
      '-X KUBE-SERVICES',
      '-X KUBE-SVC-NPX46M4PTMTKRN6Y',
    ])
  })

  t('go where they stand alone too', () => {
    const forward = '-s 10.244.0.0/24 -m comment --comment bottega-pods -j ACCEPT'
    assert.equal(removalOf(`-P FORWARD DROP\n-A FORWARD ${forward}\n-A FORWARD -o docker0 -j ACCEPT\n`), [
      `-D FORWARD ${forward}`,
    ])
  })

  t('are none on a machine without a node', () => {
    assert.equal(removalOf('-P FORWARD ACCEPT\n-N DOCKER\n-A FORWARD -j DOCKER\n'), [])
  })
})
