/** Writing a new resource so that it is the account's own, whatever stands under the name already. */
import { isAlreadyExists } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import { belongsTo } from '../../crds/kernel/fields.ts'
import type { Kind } from '../../crds/kernel/kind.ts'
import { type CommonStatus, GROUP, type Resource, VERSION } from '../../crds/kernel/object.ts'
import { Problem } from '../http/problem.ts'
import type { Writing } from '../wiring/deps.ts'
import type { Names } from './name.ts'
import { refuseForeign, type Whose } from './own.ts'

/** Names that one request tries; what stands under that many was put there to be in the way. */
const NAMES_MAX = 4

/** Somebody else's resource has this name. Nothing is told of it. */
export class NameHeld extends Problem {
  override name = 'NameHeld'
  constructor(name: string) {
    super('NAME_TAKEN', `The name ${name} is in use.`)
  }
}

/** `stood there`: an earlier call of the same account made it. */
export type Made<Spec> = { object: Resource<Spec>; outcome: 'made' | 'stood there' }

type Spec = { account?: string }
/** What names nobody is the platform's. */
const isSameOwner = (there: Spec, { account }: Spec): boolean =>
  account === undefined ? there.account === undefined : belongsTo(there, account)

/**
 * Creates the resource, or finds the one that an earlier call of the same account made.
 * @throws NameHeld where another account's stands there, KubeError
 */
export const makeOwn = async <Spec extends { account?: string }, Status extends CommonStatus>(
  { kube, namespace }: Writing,
  kind: Kind<Spec, Status>,
  { name, spec, annotations }: { name: string; spec: Spec; annotations?: Record<string, string> },
): Promise<Made<Spec>> => {
  const metadata = { name, namespace, ...(annotations && { annotations }) }
  const whole = { apiVersion: `${GROUP}/${VERSION}`, kind: kind.kind, metadata, spec }
  try {
    return { object: await kube.create<Resource<Spec>>(kind, whole), outcome: 'made' }
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const object = await kube.get<Resource<Spec>>(kind, { namespace, name })
    if (!isSameOwner(object.spec, spec)) throw new NameHeld(name)
    return { object, outcome: 'stood there' }
  }
}

/** The resource as the API server has it. @throws KubeError, Problem NOT_FOUND where it is somebody else's */
export const readOwn = async <O extends Resource<unknown>>(
  { kube, namespace }: Writing,
  { kind, name, whose }: { kind: KindRef; name: string; whose: Whose },
): Promise<O> => {
  const object = await kube.get<O>(kind, { namespace, name })
  refuseForeign(object, whose, name)
  return object
}

/** Tries one name after another, until one is not somebody else's. @throws NameHeld when all are */
export const underOwnName = async <T>(names: Names, use: (name: string) => Promise<T>): Promise<T> => {
  for (let n = 0; ; n++) {
    try {
      return await use(names(n))
    } catch (error) {
      if (!(error instanceof NameHeld) || n + 1 >= NAMES_MAX) throw error
    }
  }
}
