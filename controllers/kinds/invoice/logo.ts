/** The logo of the seller, put onto each document that is drawn: its bytes are read once for many documents. */
import { type Renderer, Undrawable } from '../../io/pdf/renderer.ts'
import type { Blobs } from '../../store/blobs.ts'

/** Logos that are kept; each is at most some 100 kB (io/images.ts). */
const KEPT_MAX = 64

/** Bytes by their sha256, the one that was asked for longest ago forgotten first. */
const makeLogoCache = (blobs: Pick<Blobs, 'get'>) => {
  const kept = new Map<string, Buffer>()
  return async (sha256: string): Promise<Buffer> => {
    const bytes = kept.get(sha256) ?? (await blobs.get(sha256))
    if (!bytes) throw new Undrawable('the logo that it names is not stored')
    kept.delete(sha256)
    kept.set(sha256, bytes)
    const [oldest] = kept.keys()
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    return bytes
  }
}

/** Draws as `pdf` does, with the logo that the document names. */
export const withLogos = ({
  pdf,
  blobs,
}: {
  pdf: Pick<Renderer, 'render'>
  blobs: Pick<Blobs, 'get'>
}): Pick<Renderer, 'render'> => {
  const logoOf = makeLogoCache(blobs)
  return {
    render: async (frozen, asker, extras = {}) => {
      const { logo } = frozen.seller
      return pdf.render(frozen, asker, logo ? { ...extras, logo: await logoOf(logo.sha256) } : extras)
    },
  }
}
