/** Links that open a dev instance in an editor. They name the host of ssh_config, so that the editor believes the same host keys. */
import { DEV_USER } from '../../../../crds/devinstance/bootstrap/places.ts'
import type { BelievedBox } from './believed.ts'
import type { LoginChoice } from './options.ts'

/** The work tree that the bootstrap makes. */
export const WORK_TREE = `/home/${DEV_USER}/repo`

export type EditorLinks = { host: string; vscode: string; jetbrains: string }

/** Of names that were found to be such (believed.ts): no letter of them means anything in a link. */
export const editorLinks = ({ host }: Pick<BelievedBox, 'host'>, { user, port }: LoginChoice): EditorLinks => {
  const asked = new URLSearchParams({
    type: 'ssh',
    deploy: 'false',
    host,
    port: String(port),
    user,
    projectPath: WORK_TREE,
  })
  return {
    host,
    vscode: `vscode://vscode-remote/ssh-remote+${host}${WORK_TREE}`,
    jetbrains: `jetbrains-gateway://connect#${asked}`,
  }
}
