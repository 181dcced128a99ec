/**
 * Environments of dev instances, sealed: each under a data key of its own, which is sealed beside it. Who
 * deletes the row deletes both, so nothing that is left can be opened.
 */
import { randomBytes } from 'node:crypto'
import type { Keys } from '../../controllers/base/keys.ts'
import { makePlainSealer } from '../../controllers/base/seal.ts'
import type { SealedEnv } from '../../controllers/store/devinstance/envs.ts'

const KEY_BYTES = 32
const PURPOSE = 'devbox-env'

export type Vault = {
  /** @param id of the instance: it opens for no other */
  seal(id: string, env: Record<string, string>): SealedEnv
  /** @throws BadSeal */
  open(id: string, sealed: SealedEnv): Record<string, string>
}

export const makeVault = (keys: Pick<Keys, 'sealer'>): Vault => {
  const wrapper = keys.sealer(PURPOSE)
  return {
    seal: (id, env) => {
      const key = randomBytes(KEY_BYTES)
      const plain = Buffer.from(JSON.stringify(env), 'utf8')
      return { wrappedKey: wrapper.seal(key, id), sealed: makePlainSealer(key, PURPOSE).seal(plain, id) }
    },
    open: (id, { wrappedKey, sealed }) =>
      JSON.parse(makePlainSealer(wrapper.open(wrappedKey, id), PURPOSE).open(sealed, id).toString('utf8')),
  }
}
