/** What `run` logs: JSON on stdout with the same redaction as every process, for nobody sits before it. */
import { type Log, withoutSecrets } from '../../../../controllers/base/log.ts'
import { oneLine, type Terminal } from '../../cli/show/terminal.ts'
import type { BoxStep } from '../plan/world.ts'
import type { Converged } from './converge.ts'

const TEXT_MAX = 2_000

/** What somebody else wrote: the registry, the cloud, a machine. */
const text = (said: string): string => withoutSecrets(oneLine(said, TEXT_MAX))

/**
 * Each step as it is begun, but for what is said in a confirmation. What is looked at in every round is told once: a wait by its
 * reason, a look inside a machine to whoever debugs.
 */
export const tellingSteps = (log: Log): ((id: string, step: BoxStep) => void) => {
  const waits = new Map<string, string>()
  return (instance, step) => {
    if (step.do === 'wait') {
      const why = text(step.why)
      if (waits.get(instance) !== why) log.info({ instance, step: 'wait', why }, 'step')
      waits.set(instance, why)
      return
    }
    const { do: name, ...of } = step.do === 'say' ? { do: step.do, word: step.word } : step
    if (name === 'lookInside') return log.debug({ instance, step: name, ...of }, 'step')
    waits.delete(instance)
    if (name !== 'done' && name !== 'stuck') log.info({ instance, step: name, ...of }, 'step')
  }
}

/** A person has to help it. */
export const tellStuck = (log: Log, instance: string, ended: Extract<Converged, { state: 'stuck' }>): void => {
  const { code, detail, next } = ended
  log.error({ instance, code, detail: text(detail), next: text(next) }, 'a dev instance is stuck')
}

/** What the client says on its way: that it asks again, that it asks without TLS. */
export const loggingTerminal = (log: Log): Terminal => {
  const nowhere = (): never => {
    throw new Error('run has no result to show')
  }
  return {
    isJson: true,
    out: nowhere,
    json: nowhere,
    fail: (line) => log.error({ said: text(line) }, 'the client failed'),
    say: (line) => log.warn({ said: text(line) }, 'the client says'),
    passing: (line) => log.debug({ said: text(line) }, 'the client says'),
    paint: (_, line) => line,
  }
}
