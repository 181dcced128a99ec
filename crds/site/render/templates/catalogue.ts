/** Every template by its name. */
import type { Template as TemplateName } from '../../content/content.ts'
import { craft, garden, market, runway, voltage } from './loud.ts'
import { clinic, harbor, ledger, lumen, studio } from './quiet.ts'
import type { TemplateView } from './template.ts'

export const TEMPLATE_VIEWS: Record<TemplateName, TemplateView> = {
  studio,
  harbor,
  ledger,
  garden,
  craft,
  clinic,
  market,
  voltage,
  lumen,
  runway,
}
