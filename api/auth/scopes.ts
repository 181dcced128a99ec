/** What a token may be allowed to do, in words that its owner understands (rules/platform.md#scopes). */

/** Scope → what it allows. A session and a token with full access hold all of them. */
export const SCOPES = {
  'create.invoice': 'Create invoices, and send them in the same call.',
  'invoices:read': 'See invoices, their PDFs and their history.',
  'invoices:write': 'Change, send, void and delete invoices, and issue credit notes.',
  'payments:write': 'Record payments and confirm what clients claim to have paid.',
  'account:profile': 'See and change the seller profile and the logo.',
  'webhooks:manage': 'Manage webhook endpoints, and see events and deliveries.',
  'websites:read': 'See websites and their statistics.',
  'websites:write': 'Make, change and publish websites.',
  'apps:read': 'See apps, their releases and logs.',
  'apps:manage': 'Deploy and manage apps. The account needs the capability app.deploy.',
  'devboxes:read': 'See dev instances.',
  'devboxes:manage': 'Manage dev instances. The account needs the capability devbox.manage.',
} as const satisfies Record<string, string>

export type Scope = keyof typeof SCOPES
export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[]

type PresetEntry = { description: string; scopes: readonly Scope[] }

/** Common choices. What a preset holds is written onto the token when it is made; a later change leaves the token alone. */
export const PRESETS = {
  invoicing: {
    description: 'Invoices, payments and the seller profile, and nothing else.',
    scopes: ['create.invoice', 'invoices:read', 'invoices:write', 'payments:write', 'account:profile'],
  },
  websites: { description: 'See, make, change and publish websites.', scopes: ['websites:read', 'websites:write'] },
  apps: { description: 'See, deploy and manage apps.', scopes: ['apps:read', 'apps:manage'] },
  devboxes: { description: 'See and manage dev instances.', scopes: ['devboxes:read', 'devboxes:manage'] },
  'read-only': {
    description: 'See everything that can be read, and change nothing.',
    scopes: ['invoices:read', 'websites:read', 'apps:read', 'devboxes:read'],
  },
} as const satisfies Record<string, PresetEntry>

export type Preset = keyof typeof PRESETS
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[]

/** Scopes in the catalogue's order, each once. */
export const inOrder = (scopes: Iterable<string>): Scope[] => {
  const wanted = new Set(scopes)
  return SCOPE_NAMES.filter((scope) => wanted.has(scope))
}
