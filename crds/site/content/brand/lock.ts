/** What an account's lock to a template leaves unused: another template, and tokens that would make it another brand (rules/site.md#templates). */
import { toSnake } from '../../../kernel/rest.ts'
import type { Template } from '../content.ts'
import type { BrandTokens } from './brand.ts'

export type LockWarning = { code: 'TEMPLATE_LOCKED'; pointer: string; detail: string }
type Locked = { lock: string; template: Template | null; brand: BrandTokens | null }

/** Which tokens there are, in the names of REST. */
const tokenNames = (brand: BrandTokens | null): string[] =>
  Object.entries(brand ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [toSnake(name)]))

/** @param of.template what the content asks for; null where nobody asks */
export const lockWarnings = ({ lock, template, brand }: Locked): LockWarning[] => {
  const warning = (pointer: string, unused: string): LockWarning => ({
    code: 'TEMPLATE_LOCKED',
    pointer,
    detail: `this account is locked to ${lock}; ${unused}`,
  })
  const tokens = tokenNames(brand)
  return [
    ...(template === null || template === lock ? [] : [warning('/content/meta/template', `${template} is not used`)]),
    ...(tokens.length === 0
      ? []
      : [
          warning(
            '/brand_tokens',
            `its brand holds, and these tokens of the account are not used: ${tokens.join(', ')}`,
          ),
        ]),
  ]
}
