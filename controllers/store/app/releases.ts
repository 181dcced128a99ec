/** What is kept of releases under seal, and what the policy reads of an upload; for controllers and for a dry run alike. */
import { digestOfSealed, type SealedRelease } from '../../../crds/app/sealed.ts'
import { openIndex, type SourceIndex } from '../../../crds/app/sources/source.ts'
import type { Sealer } from '../../base/seal.ts'
import type { Blobs } from '../blobs.ts'
import type { Pg } from '../pg/pg.ts'
import type { SourceRow } from './app.ts'

export type AppVault = {
  seal(app: string, release: number, sealed: SealedRelease): { sealed: Buffer; digest: string }
  has(app: string, release: number): Promise<boolean>
  /** @throws when nothing was sealed; BadSeal */
  open(app: string, release: number): Promise<SealedRelease>
  /** Null for an upload that is not this account's. */
  indexOf(account: string, digest: string): Promise<SourceIndex | null>
}

/** What a sealed release belongs to. */
export const aboutRelease = (app: string, release: number): string => JSON.stringify(['app release', app, release])

type VaultDeps = {
  pg: Pg
  blobs: Blobs
  source(account: string, digest: string): Promise<SourceRow | null>
  /** For the purpose `app-release`. */
  sealer: Sealer
}

export const makeAppVault = ({ pg, blobs, source, sealer }: VaultDeps): AppVault => {
  const sealedOf = async (app: string, release: number): Promise<Buffer | null> => {
    const text = 'select sealed from app_releases where app = $1 and number = $2'
    const { rows } = await pg.query<{ sealed: Buffer | null }>('app_release_sealed', text, [app, release])
    return rows[0]?.sealed ?? null
  }
  return {
    seal: (app, release, sealed) => ({
      sealed: sealer.seal(Buffer.from(JSON.stringify(sealed), 'utf8'), aboutRelease(app, release)),
      digest: digestOfSealed(sealed),
    }),
    has: async (app, release) => (await sealedOf(app, release)) !== null,
    async open(app, release) {
      const sealed = await sealedOf(app, release)
      if (!sealed) throw new Error(`nothing is sealed of release ${release} of ${app}`)
      return JSON.parse(sealer.open(sealed, aboutRelease(app, release)).toString('utf8')) as SealedRelease
    },
    async indexOf(account, digest) {
      const row = await source(account, digest)
      const bytes = row && (await blobs.get(row.indexSha256))
      return bytes ? openIndex(bytes) : null
    },
  }
}
