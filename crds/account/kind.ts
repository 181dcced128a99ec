/** How the Account is named and shown. */
import { PLATFORM } from '../kernel/fields.ts'
import { AGE, type Kind, READY, REASON } from '../kernel/kind.ts'
import { USE } from '../kernel/rights/policies.ts'
import { type AccountSpec, type AccountStatus, spec, status } from './schema.ts'
import type { StoredAccount } from './view.ts'

export const ACCOUNT: Kind<AccountSpec, AccountStatus, StoredAccount> = {
  kind: 'Account',
  plural: 'accounts',
  singular: 'account',
  listKind: 'AccountList',
  shortNames: ['acct'],
  description: 'An account of the platform: plan, role, capabilities, cost cap and template lock.',
  spec,
  status,
  // It decides plan, role and capabilities; the api makes and changes accounts for administrators, and never deletes one.
  writers: 'admin',
  apiVerbs: ['create', 'list', 'patch'],
  guardedVerbs: [USE],
  columns: [
    { name: 'Email', type: 'string', path: '.spec.email', description: 'Address of the owner.' },
    { name: 'Plan', type: 'string', path: '.spec.plan', description: 'The plan.' },
    { name: 'Role', type: 'string', path: '.spec.role', description: 'The role.' },
    READY,
    AGE,
    { name: 'Capabilities', type: 'string', path: '.spec.capabilities', description: 'What was granted.', wide: true },
    REASON,
  ],
  selectable: ['.spec.email', '.spec.plan', '.spec.role'],
  rules: [
    {
      rule: `self.metadata.name != '${PLATFORM}'`,
      message: `NAME_TAKEN: ${PLATFORM} is whose the platform's hosts are`,
    },
  ],
}
