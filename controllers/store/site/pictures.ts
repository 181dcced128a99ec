/** Pictures of sites as they are made (sql/schema/035_pictures.sql): each part of one is kept once, whoever asked for it. */
import type { ImageVariant, RenderedImage } from '../../../crds/site/render/input.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

/** `quick` in the width that is made first, `image` in all of them; null until they are there. */
export type KeptPicture = { quick: RenderedImage | null; image: RenderedImage | null }
/** `original`: the sha256 of what was taken in from an address. */
export type PictureWork = KeptPicture & { original: string | null; variants: ImageVariant[] }

export type PictureRows = {
  /** Those of which there is anything, by source. */
  kept(sources: readonly string[]): Promise<Map<string, KeptPicture>>
  /** How far one is; null when there is nothing of it. */
  work(source: string): Promise<PictureWork | null>
  /** What was there before stays. */
  keep(source: string, parts: { original?: string; quick?: RenderedImage; image?: RenderedImage }): Promise<void>
  keepVariant(source: string, variant: ImageVariant): Promise<void>
}

const KEPT = `
select source, quick, image from site_pictures where source = any ($1) and (quick is not null or image is not null)`
const WORK = `
select p.original, p.quick, p.image,
  coalesce((
    select json_agg(json_build_object(
      'format', v.format, 'width', v.width, 'height', v.height, 'sha256', v.sha256, 'bytes', v.bytes
    ))
    from site_picture_variants v where v.source = p.source
  ), '[]') as variants
from site_pictures p where p.source = $1`
const KEEP = 'select keep_site_picture($1, $2, $3, $4)'
const KEEP_VARIANT = 'select keep_site_picture_variant($1, $2, $3, $4)'

export const makePictureRows = ({ pg, epoch }: { pg: Pg; epoch: () => number }): PictureRows => ({
  async kept(sources) {
    const { rows } = await pg.query<KeptPicture & { source: string }>('site_pictures', KEPT, [sources])
    return new Map(rows.map(({ source, quick, image }) => [source, { quick, image }]))
  },
  async work(source) {
    return (await pg.query<PictureWork>('site_picture_work', WORK, [source])).rows[0] ?? null
  },
  async keep(source, parts) {
    await pg.query('keep_site_picture', KEEP, [LEASE, epoch(), source, JSON.stringify(parts)])
  },
  async keepVariant(source, variant) {
    await pg.query('keep_site_picture_variant', KEEP_VARIANT, [LEASE, epoch(), source, JSON.stringify(variant)])
  },
})
