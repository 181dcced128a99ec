/** What a token may be allowed to do, in words that its owner understands (rules/platform.md#scopes). */

import { type Catalogued, catalogued } from '../../crds/catalogue/list.ts'

export type Scope = Catalogued<'scopes'>

/** Scope → what it allows. A session and a token with full access hold all of them. */
export const SCOPES: Readonly<Record<Scope, string>> = catalogued('scopes')
export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[]

type PresetEntry = { description: string; scopes: readonly Scope[] }

/** Common choices. What a preset holds is written onto the token when it is made; a later change leaves the token alone. */
export const PRESETS = {
  ...(catalogued('presets') as Record<Catalogued<'presets'>, PresetEntry>),
  'read-only': {
    description: 'See everything that can be read, and change nothing.',
    scopes: SCOPE_NAMES.filter((scope) => scope.endsWith(':read')),
  },
} as const satisfies Record<string, PresetEntry>

export type Preset = keyof typeof PRESETS
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[]

/** Scopes in the catalogue's order, each once. */
export const inOrder = (scopes: Iterable<string>): Scope[] => {
  const wanted = new Set(scopes)
  return SCOPE_NAMES.filter((scope) => wanted.has(scope))
}
