import { setTimeout as sleep } from 'node:timers/promises'
import { makeLog } from '../../../controllers/base/log.ts'
import { type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { type Cache, reflect } from '../../../controllers/kube/watch.ts'
import type { Controller } from '../../../controllers/runtime/contract.ts'
import { type RunningController, runController } from '../../../controllers/runtime/controller.ts'
import { ready } from '../../../crds/kernel/plan.ts'
import { ensureWidgets, makeSpace, makeWidget, until, WIDGET, type Widget } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { sharedKubeconfig } from '../../support/stage/stage.ts'

/** How much of a widget has been made, and in which colour. */
type World = { made: number; colour: string | undefined }
type Step = { do: 'grow'; to: number } | { do: 'paint'; colour: string }
type Widgets = Controller<Widget, { made: number }, World, Step>

const plan: Widgets['plan'] = ({ spec: { size = 0, colour } }, { made, colour: painted }) => {
  const steps: Step[] = []
  if (made < size) steps.push({ do: 'grow', to: size })
  if (colour !== undefined && painted !== colour) steps.push({ do: 'paint', colour })
  return { steps, status: { made }, verdict: ready('Made', `made ${made}`) }
}

spec('a look that a step has taken', (t) => {
  let kube: Kube
  let space: string
  let cache: Cache<Widget>
  let outside: Map<string, World>
  let looks: number
  let running: RunningController | undefined
  t.before(async () => {
    kube = makeKube({ kubeconfig: sharedKubeconfig() })
    await ensureWidgets(kube)
  })
  t.before.each(async () => {
    space = await makeSpace(kube)
    cache = reflect<Widget>({ kube, kind: WIDGET, namespace: space })
    await cache.synced
    outside = new Map()
    looks = 0
  })
  t.after.each(async () => {
    await running?.stop(1_000)
    await cache.stop()
  })
  t.after(() => kube.close())

  const worldOf = (name: string): World => outside.get(name) ?? { made: 0, colour: undefined }
  const start = (act: Widgets['act']) => {
    const observe: Widgets['observe'] = async ({ metadata }) => {
      looks += 1
      return worldOf(metadata.name)
    }
    running = runController({ kind: WIDGET, observe, plan, act }, { kube, cache, log: makeLog({ level: 'silent' }) })
  }
  const done = async (name: string, made: number) => {
    await until(`${name} is made`, () => cache.get(`${space}/${name}`)?.status?.made === made)
    await until('it is idle', () => running?.busy() === 0)
    await sleep(120)
    await until('it is idle', () => running?.busy() === 0)
  }
  const changed = (name: string, change: Partial<World>): World => {
    const world = { ...worldOf(name), ...change }
    outside.set(name, world)
    return world
  }

  t('is not taken again, and only what stands there is said', async () => {
    start({
      // less than was asked for: the next round sees so, and goes on from there
      grow: async ({ to }, { metadata: { name } }) => ({
        looked: changed(name, { made: Math.min(to, worldOf(name).made + 2) }),
      }),
      paint: async () => {},
    })
    await makeWidget(kube, space, 'seen', { size: 3 })
    await done('seen', 3)
    assert.is(looks, 1)
  })

  t('counts for nothing once another step has followed', async () => {
    let paints = 0
    start({
      grow: async ({ to }, { metadata: { name } }) => ({ looked: changed(name, { made: to }) }),
      paint: async ({ colour }, { metadata: { name } }) => {
        paints += 1
        changed(name, { colour })
      },
    })
    await makeWidget(kube, space, 'followed', { size: 3, colour: 'red' })
    await done('followed', 3)
    assert.equal([worldOf('followed'), looks, paints], [{ made: 3, colour: 'red' }, 2, 1])
  })

  t('counts for nothing once the object has changed', async () => {
    const said = new Set<number>()
    cache.subscribe((_key, { object: { status } }) => {
      if (status?.made !== undefined) said.add(status.made)
    })
    start({
      grow: async ({ to }, { metadata: { name } }) => {
        const looked = changed(name, { made: to })
        await kube.patchMeta(WIDGET, { namespace: space, name }, { annotations: { a: '1' } })
        await until('it is seen', () => cache.get(`${space}/${name}`)?.metadata.annotations?.a === '1')
        // what came to be after the look is seen
        changed(name, { made: to + 1 })
        return { looked }
      },
      paint: async () => {},
    })
    await makeWidget(kube, space, 'changed', { size: 5 })
    await done('changed', 6)
    assert.equal([...said], [6])
  })
})
