/** What is known of much-used images and would only show as a failed start: they want rights that nothing has here. */
import type { At, ValidationContext } from '../reading/validation.ts'

/** Images whose program begins as root and changes to a user of its own, which takes capabilities. */
const CHANGES_USER: Readonly<Record<string, string>> = {
  'library/postgres': 'Set user: postgres.',
  'postgis/postgis': 'Set user: postgres.',
  'library/redis': 'Set user: redis.',
  'valkey/valkey': 'Set user: valkey.',
  'library/mysql': 'Set user: mysql.',
  'library/mariadb': 'Set user: mysql.',
  'library/mongo': 'Set user: mongodb.',
  'library/rabbitmq': 'Set user: rabbitmq.',
  'library/nginx': 'Use nginxinc/nginx-unprivileged, which listens on 8080.',
}

/** Warns where an image of Docker Hub is known to need a user: where root has no rights, since it is that of the host. */
export const hintUser = (
  validation: ValidationContext,
  at: At,
  { image, user }: { image: string; user?: string | undefined },
): void => {
  if (user !== undefined || validation.deployTarget.remapsUsers) return
  const path = /^docker\.io\/([^:@]+)/.exec(image)?.[1] ?? ''
  const next = Object.hasOwn(CHANGES_USER, path) ? CHANGES_USER[path] : undefined
  if (next === undefined) return
  const detail = 'The image begins as root and changes its user, for which it has no rights here.'
  validation.warn(at, 'privileges', detail, next)
}
