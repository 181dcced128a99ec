/**
 * Environments of dev instances, sealed: each under a data key of its own, which is wrapped under the server's. Who
 * deletes the row deletes both, so nothing that is left can be opened.
 */
import { randomBytes } from 'node:crypto'
import { makeSealer } from '../../controllers/base/seal.ts'
import type { SealedEnv } from '../../controllers/store/devinstance/devinstances.ts'

const KEY_BYTES = 32
const PURPOSE = 'devbox-env'

export type Vault = {
  /** @param id of the instance: it opens for no other */
  seal(id: string, env: Record<string, string>): SealedEnv
  /** @throws BadSeal */
  open(id: string, sealed: SealedEnv): Record<string, string>
}

/** @param serverKey 32 bytes (BOTTEGA_SECRET_KEY) */
export const makeVault = (serverKey: Buffer): Vault => {
  const wrapper = makeSealer(serverKey, PURPOSE)
  return {
    seal: (id, env) => {
      const key = randomBytes(KEY_BYTES)
      const plain = Buffer.from(JSON.stringify(env), 'utf8')
      return { wrappedKey: wrapper.seal(key, id), sealed: makeSealer(key, PURPOSE).seal(plain, id) }
    },
    open: (id, { wrappedKey, sealed }) =>
      JSON.parse(makeSealer(wrapper.open(wrappedKey, id), PURPOSE).open(sealed, id).toString('utf8')),
  }
}
