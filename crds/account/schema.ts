/**
 * The Account: who may do what, on which plan. `metadata.name` is the account's id.
 * Source: rules/account.md#the-account.
 */
import { COMMON_STATUS } from '../kernel/kind.ts'
import { EMAIL_MAX, EMAIL_PATTERN, type Infer, type ObjectSchema } from '../kernel/schema.ts'
import { TEMPLATES } from '../values/templates.ts'

export const PLANS = ['free', 'pro', 'team'] as const
export const ROLES = ['member', 'reviewer', 'admin'] as const
export const CAPABILITIES = ['app.deploy', 'devbox.manage'] as const
/** Ways to collect money by card. */
export const RAILS = ['stripe'] as const
export const TEAMS_MAX = 50
export const COST_CAP_USD_MAX = 1_000_000
/** No allowance can be raised beyond this. */
export const ALLOWANCE_MAX = 1_000_000

const allowance = (description: string) =>
  ({ type: 'integer', description, minimum: 0, maximum: ALLOWANCE_MAX }) as const

const capability = { type: 'string', description: 'One capability.', enum: CAPABILITIES } as const

export const spec = {
  type: 'object',
  description: 'Who the account is and what it may do.',
  required: ['email'],
  properties: {
    email: {
      type: 'string',
      description: 'Address of the owner. A client with this address sees invoices behind the account gate.',
      maxLength: EMAIL_MAX,
      pattern: EMAIL_PATTERN,
    },
    name: { type: 'string', description: 'Name of the owner.', maxLength: 200, default: '', 'x-text': 'line' },
    plan: { type: 'string', description: 'The plan, which sets the limits.', enum: PLANS, default: 'free' },
    role: {
      type: 'string',
      description: 'member, reviewer (decides on websites) or admin (runs the platform).',
      enum: ROLES,
      default: 'member',
    },
    capabilities: {
      type: 'array',
      description: 'What was explicitly granted.',
      maxItems: CAPABILITIES.length,
      default: [],
      'x-list': 'set',
      items: capability,
    },
    teams: {
      type: 'array',
      description: 'The teams that the account is a member of.',
      maxItems: TEAMS_MAX,
      default: [],
      'x-list': 'set',
      items: {
        type: 'string',
        description: 'Id of a team.',
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
      },
    },
    costCapUsd: {
      type: 'integer',
      description: 'Most that dev instances may cost in a month, in whole US dollars.',
      minimum: 0,
      maximum: COST_CAP_USD_MAX,
    },
    aiPerDay: allowance(
      'How often a day the AI may be asked, for invoices and for websites each, in place of what the plan says.',
    ),
    limits: {
      type: 'object',
      description: 'What support has granted in place of the limits of the plan.',
      properties: {
        sendsPerDay: allowance('Sends a day; test sends do not count.'),
        webhookEndpoints: allowance('Webhook endpoints.'),
        sites: allowance('Websites.'),
        publishesPerDay: allowance('Live publishes a day.'),
        messagesPerDay: allowance('Messages of visitors of websites a day.'),
        appStorageMib: allowance('MiB of storage for uploads of apps.'),
      },
    },
    rails: {
      type: 'array',
      description: 'Card processors that may collect for the account: its payable invoices show Pay now.',
      maxItems: RAILS.length,
      default: [],
      'x-list': 'set',
      items: { type: 'string', description: 'One card processor.', enum: RAILS },
    },
    templateLock: {
      type: 'string',
      description: 'The only website template this account may use; its brand holds, too.',
      enum: TEMPLATES,
    },
  },
} as const satisfies ObjectSchema

export const status = {
  type: 'object',
  description: 'What holds for the account. Written by the operator alone.',
  properties: {
    ...COMMON_STATUS,
    phase: { type: 'string', description: 'One word for display: active.', maxLength: 32 },
    key: {
      type: 'string',
      description: 'What its resources say as account, where another account had its name before; else that name.',
      maxLength: 253,
    },
    plan: { type: 'string', description: 'The plan in force.', maxLength: 32 },
    capabilities: {
      type: 'array',
      description: 'The capabilities in force.',
      maxItems: 32,
      'x-list': 'set',
      items: { type: 'string', description: 'One capability.', maxLength: 64 },
    },
  },
} as const satisfies ObjectSchema

export type AccountSpec = Infer<typeof spec>
export type AccountStatus = Infer<typeof status>
