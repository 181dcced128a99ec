/** What several scripts of a dev instance begin with, or ask. Source: rules/devinstance.md#bootstrap. */
import { PREFIX } from './places.ts'

/** The root that is looked at and what time it is, which tests give; and a figure out of lines of a name and a figure. */
export const LOOK = `root=\${ROOT:-}
now=\${NOW:-$(date +%s)}
number() { sed -n "s/^$2 \\([0-9]\\{1,15\\}\\)\\$/\\1/p" "$1" 2>/dev/null | head -n 1; }`

/** An agent that is installed, and where its package lies below the prefix. */
export type InstalledAgent = { id: string; folder: string }

/** Sets `versions` to the members of a JSON object: the agents that are there, as their packages say. */
export const versionsScript = (agents: readonly InstalledAgent[]): string => `versions=
version() {
  found=$(sed -n 's/^ *"version": *"\\([0-9A-Za-z.+-]*\\)".*/\\1/p' "\${PREFIX:-${PREFIX}}/$2/package.json" 2>/dev/null | head -n 1)
  if [ -n "$found" ]; then versions=$versions\${versions:+,}\\"$1\\":\\"$found\\"; fi
}
${agents.map(({ id, folder }) => `version ${id} ${folder}\n`).join('')}`
