/** The templates of websites by name: a site chooses one, an account may be locked to one (rules/site.md#templates). */
export const TEMPLATES = [
  'studio',
  'harbor',
  'ledger',
  'garden',
  'craft',
  'clinic',
  'market',
  'voltage',
  'lumen',
  'runway',
] as const
