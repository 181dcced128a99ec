/** Refusals that every surface knows: of the request, of the caller, of accounts and their limits. */
import type { ProblemEntry } from './entry.ts'

export const COMMON_PROBLEMS = {
  // ---- the request itself
  MALFORMED_JSON: {
    status: 400,
    title: 'The body is not valid JSON',
    next: 'Send one JSON object as application/json.',
  },
  INVALID_FIELD: {
    status: 400,
    title: 'A field has a value outside its rules',
    next: 'Correct the fields that errors[] points at.',
  },
  UNKNOWN_FIELD: { status: 400, title: 'A field is not known', next: 'Remove it, or use the name that is suggested.' },
  UNKNOWN_PARAMETER: {
    status: 400,
    title: 'A query parameter is not known',
    next: 'Remove it, or use the name that is suggested.',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'No valid token',
    next: 'Send Authorization: Bearer with a token that is neither expired nor revoked.',
  },
  FORBIDDEN: {
    status: 403,
    title: 'The token does not allow this',
    next: 'Use a token that holds the scope named here.',
  },
  NOT_FOUND: { status: 404, title: 'There is no such thing', next: 'Check the path and the id.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The path does not know this method',
    next: 'Use one of the methods in the Allow header.',
  },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large', next: 'Send less than the limit named here.' },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request took too long to arrive',
    next: 'Send it again over a faster connection.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The content type is not accepted', next: 'Send application/json.' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests', next: 'Wait for the time in Retry-After.' },
  INTERNAL: {
    status: 500,
    title: 'Something broke on our side',
    next: 'Look whether it was done before you send it again; give support the request id.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'The service cannot answer right now',
    next: 'Wait for the time in Retry-After. Send it again where outcome is not_stored; otherwise look first.',
  },

  KIND_UNKNOWN: {
    status: 503,
    title: 'The cluster lacks a definition of Bottega',
    next: 'Ask the operator of this installation to apply its definitions (kubectl apply -f crds, or helm upgrade).',
  },

  // ---- accounts in namespaces of their own (README, "Tenants in namespaces of their own")
  ACCOUNT_ELSEWHERE: {
    status: 409,
    title: 'The account has no resources in this namespace',
    next: 'Make it in the namespace that the account is bound to, or have an administrator bind the account to this one.',
  },
  NAMESPACE_NOT_SERVED: {
    status: 409,
    title: 'The resource lives in a namespace that is not served',
    next: 'Read it as before; nothing of it was deleted. It can be changed once the operator of this installation serves its namespace again, with its account bound to it.',
  },

  // ---- two truths that disagree (README, "When truths disagree")
  LEDGER_BEHIND: {
    status: 503,
    title: 'The database is older than what it has to keep',
    next: 'Read as before; nothing was lost that was sent. Writing goes on once the operator of this installation has put back the newest copy of its database, or mended this one.',
  },
  CLUSTER_BEHIND: {
    status: 503,
    title: 'The cluster is older than what the database knows of it',
    next: 'Read as before. Writing goes on once the operator of this installation has put back the newest copy of the cluster, or mended this one.',
  },
  KEY_UNKNOWN: {
    status: 503,
    title: 'The secret key is not the one that the database was sealed with',
    next: 'Writing goes on once the operator of this installation has given its processes the key that belongs to the database.',
  },
  CLUSTER_UNKNOWN: {
    status: 503,
    title: 'The database belongs to another cluster, or most of its resources are missing',
    next: 'Read as before. Writing goes on once the operator of this installation has said which cluster is the right one.',
  },

  // ---- tokens, scopes, capabilities, roles (rules/platform.md#tokens, #scopes, #capabilities)
  CAPABILITY_REQUIRED: {
    status: 403,
    title: 'The account lacks a capability',
    next: 'Ask an admin of this installation to grant the capability named here.',
  },
  ROLE_REQUIRED: {
    status: 403,
    title: 'The account does not have the role for this',
    next: 'Use an account with the role named here.',
  },
  TOKEN_LIMIT: {
    status: 409,
    title: 'The account has as many tokens as it may',
    next: 'Revoke one that is no longer used.',
  },

  // ---- what was set aside (rules/platform.md#quarantine)
  NOTHING_TO_RELEASE: {
    status: 409,
    title: 'Nothing is left of it that could be tried again',
    next: 'Switch its endpoint on first, or leave it as it is.',
  },

  // ---- sessions
  CROSS_SITE: {
    status: 403,
    title: 'The request came from another site',
    next: 'Open the page again and send the form from there.',
  },

  // ---- accounts and their limits (rules/account.md#quotas)
  EMAIL_TAKEN: {
    status: 409,
    title: 'The address belongs to another account',
    next: 'Use another address, or change the account that has it.',
  },
  NAME_TAKEN: { status: 409, title: 'The name is in use', next: 'Use another name.' },
  SEND_CAP: {
    status: 429,
    title: "The account's sends of this day are used up",
    next: 'Send it after 00:00 UTC, or ask support to raise the cap.',
  },

  // ---- drafts by a language model (rules/platform.md#language-models)
  LLM_NOT_CONFIGURED: {
    status: 503,
    title: 'This installation has no language model',
    next: 'Send JSON of your own, or ask the operator to configure one.',
  },
  LLM_UNAVAILABLE: {
    status: 503,
    title: 'The language model does not answer',
    next: 'Try again after the time in Retry-After; nothing was counted.',
  },
  LLM_BAD_ANSWER: {
    status: 502,
    title: 'The language model gave no usable answer',
    next: 'Say it in other words, or send JSON of your own; nothing was counted.',
  },

  // ---- Idempotency-Key (rules/platform.md#idempotency)
  BAD_IDEMPOTENCY_KEY: {
    status: 400,
    title: 'Idempotency-Key is not acceptable',
    next: 'Send one of 1 to 255 visible ASCII characters, such as a UUID.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 409,
    title: 'The Idempotency-Key was used for another request',
    next: 'Send the original request, or use another key.',
  },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    title: 'The request under this Idempotency-Key is still running',
    next: 'Send the same request again after the time in Retry-After.',
  },

  // ---- requests that were answered before they were decided (rules/platform.md#operations)
  OUTCOME_UNKNOWN: {
    status: 409,
    title: 'Nobody can say any more what became of the request',
    next: 'Look at the resource as it is now, and ask again for what is missing.',
  },

  // ---- what the caller names its own things by (rules/platform.md#external-references, #metadata)
  BAD_EXTERNAL_REF: {
    status: 400,
    title: 'external_ref is not acceptable',
    next: 'Use at most 128 characters of A-Z a-z 0-9 . _ : / -',
  },
  REF_IMMUTABLE: { status: 400, title: 'external_ref is fixed at creation', next: 'Create another one.' },
  BAD_METADATA: {
    status: 400,
    title: 'metadata is over its caps',
    next: 'At most 20 keys with scalar values, 2,048 bytes of JSON in all.',
  },
} as const satisfies Record<string, ProblemEntry>
