/** A thread that renders one variant of a site after another (variants.ts). */
import { renderVariant } from '../../../crds/site/publishing/variant.ts'
import { serveThread } from '../threads/serve.ts'
import type { VariantJob } from './variants.ts'

serveThread(({ content, made, choice }: VariantJob) => renderVariant(content, made, choice))
