import { join } from 'node:path'
import { root } from '../lib/state.ts'
import { runClient } from '../platform/kubectl.ts'

/** Runs helm and gives its stdout; a Refusal with its own words when it fails. */
export type Helm = (args: readonly string[]) => Promise<string>

/** The chart of this checkout. */
export const chartFolder = join(root, 'charts', 'bottega')
/** What the chart's defaults leave open, for rendering it. */
export const exampleValues = join(chartFolder, 'ci', 'default-values.yaml')

export type HelmOptions = {
  /** Of the built helm. */
  path: string
  /** For what helm keeps of its own, which else goes into the user's home. */
  folder: string
  /** Without one there is no cluster to speak to. */
  kubeconfig?: string
}

export function createHelm({ path, folder, kubeconfig }: HelmOptions): Helm {
  const env = {
    HELM_CACHE_HOME: join(folder, 'cache'),
    HELM_CONFIG_HOME: join(folder, 'config'),
    HELM_DATA_HOME: join(folder, 'data'),
    KUBECONFIG: kubeconfig ?? join(folder, 'no-cluster'),
  }
  return (args) => runClient({ name: 'helm', path, args, action: args[0], env })
}
