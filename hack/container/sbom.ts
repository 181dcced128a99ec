import { readFileSync, realpathSync } from 'node:fs'
import { attempt, run } from '../lib/command.ts'
import { root } from '../lib/state.ts'

/** What the image is made of, for those who look for what is known to be vulnerable. Source: CycloneDX 1.5, as npm writes it. */

type Component = { 'bom-ref': string; type: string; name: string; version: string; purl: string }
type Dependency = { ref: string; dependsOn?: string[] }
type Listed = { components: Component[]; dependencies: Dependency[] }
const NPM = ['--prefix', root, '--no-update-notifier', 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']

/** The packages of the system that these files are of; it may know them by their path of before /lib was /usr/lib. */
function systemPackages(files: readonly string[]): Component[] {
  const paths = files.map((file) => realpathSync(file)).flatMap((path) => [path, path.replace(/^\/usr/, '')])
  const owners = attempt('dpkg-query', ['--search', ...paths]).stdout
  const names = [...new Set([...owners.matchAll(/^([^:\s]+)(?::[^:\s]+)?: /gm)].map(([, name = '']) => name))].sort()
  const lines = run('dpkg-query', ['--show', '--showformat', '$' + '{Package} $' + '{Version}\n', ...names])
  const distribution = /^ID=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'debian'
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [name = '', version = ''] = line.split(' ')
      const purl = `pkg:deb/${distribution}/${name}@${encodeURIComponent(version)}`
      return { 'bom-ref': purl, type: 'library', name, version, purl }
    })
}

/**
 * The same for the same content: without a day, and without a number of its own.
 * @param given.packages `name@version` of each @param given.node its version @param given.files of the machine
 */
export function billOfMaterials(given: {
  packages: ReadonlySet<string>
  node: string
  files: readonly string[]
}): string {
  const isThere = (ref: string): boolean => given.packages.has(ref)
  const listed: Listed = JSON.parse(run('npm', NPM))
  const purl = `pkg:generic/node@${given.node}`
  const components = [
    { 'bom-ref': purl, type: 'application', name: 'node', version: given.node, purl },
    ...systemPackages(given.files),
    ...listed.components.filter((one) => isThere(one['bom-ref'])),
  ]
  const dependencies = listed.dependencies
    .filter(({ ref }) => isThere(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isThere) }))
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components, dependencies }, null, 1)}\n`
}
