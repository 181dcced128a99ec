/** Who looks at a page: a person, a robot, or ourselves. The one door of isbot. */
import { isBot } from 'isbot'

export type Looker = 'person' | 'robot' | 'ourselves'

/** As the looks of the platform call themselves (controllers/io/hosts/tls/served.ts). */
const OURSELVES = /^bottega-/

/** Browsers say who they are; what says nothing is none. */
export const lookerOf = (agent: string): Looker => {
  if (OURSELVES.test(agent)) return 'ourselves'
  return agent === '' || isBot(agent) ? 'robot' : 'person'
}
