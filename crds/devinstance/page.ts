/** Where people see their dev instances in a browser, and how one is called there (api/devinstance/reading/page.ts). */
export const DEVBOXES_PAGE = '/account/devboxes'

/** Where the code is (bootstrap/provision.ts). */
const WORK_TREE = '/home/dev/repo'
const PORT = '22'

/**
 * The name that `bottega devbox config` gives a machine in ssh_config, with the host keys that it attested: whoever uses it believes
 * nobody for answering first. Editors take the host of a link for lower case.
 */
export const sshNameOf = ({ id, name }: { id: string; name: string }): string =>
  name === name.toLowerCase() ? `bottega-${name}` : id

/** Links that editors open; they hold no letter that means anything in one (schema.ts#NAME_PATTERN). */
export const editorLinksOf = (of: { id: string; name: string }): { vscode: string; jetbrains: string } => {
  const host = sshNameOf(of)
  const asked = { type: 'ssh', deploy: 'false', host, port: PORT, user: 'dev', projectPath: WORK_TREE }
  return {
    vscode: `vscode://vscode-remote/ssh-remote+${host}${WORK_TREE}`,
    jetbrains: `jetbrains-gateway://connect#${new URLSearchParams(asked)}`,
  }
}

type Seen = { activity?: unknown; receivedAt?: unknown }
type Source = { source?: unknown; name?: unknown; weight?: unknown }

const isSource = (one: unknown): one is Source => typeof one === 'object' && one !== null

/** What keeps a machine awake, in the words of its latest report; undefined where it has said nothing. */
export const keptAwakeBy = (lastReport: Record<string, unknown> | null): string[] | undefined => {
  const { activity } = (lastReport ?? {}) as Seen
  if (!Array.isArray(activity)) return undefined
  const sources = activity.filter(isSource).filter(({ weight }) => Number(weight) > 0)
  return [...new Set(sources.map(({ source, name }) => String(name ?? source)))]
}
