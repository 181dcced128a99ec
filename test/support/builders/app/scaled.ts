/** What the world of an app is after each step of a scale. */
import type { AppStep } from '../../../../crds/app/steps.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { happened, withRelease } from './happened.ts'

type ScaleStep = Extract<AppStep, { do: 'beginScale' | 'grown' | 'scaled' | 'dropReplicas' | 'cutStreams' }>
const SCALE: readonly string[] = [
  'beginScale',
  'grown',
  'scaled',
  'dropReplicas',
  'cutStreams',
] satisfies ScaleStep['do'][]
export const isScale = (step: AppStep): step is ScaleStep => SCALE.includes(step.do)

export const scaleStepped = (world: AppWorld, step: ScaleStep): AppWorld => {
  switch (step.do) {
    case 'beginScale':
      return { ...happened(world, step.operation, { on: 'scaling' }), job: { state: 'absent' } }
    case 'grown': {
      const { address, leaving, message } = step
      return happened(world, step.operation, { on: 'grown', address, leaving, message })
    }
    case 'scaled':
      return { ...happened(world, step.operation, { on: 'scaled', replicas: step.replicas, parts: [] }), look: null }
    case 'dropReplicas': {
      // As with one that is retired.
      const { leaving = [], ...record } = step.release.record ?? {}
      const rest = leaving.filter(({ name }) => !step.names.includes(name))
      const left = { record: { ...record, ...(rest.length > 0 && { leaving: rest }) } }
      return { ...withRelease(world, step.release.number, left), look: null }
    }
    case 'cutStreams':
      return { ...world, before: null, requests: {} }
    default:
      return step satisfies never
  }
}
