/**
 * What can be wrong with a delivery that a receiver refused: which of its four parts, how it most likely came, and what to do.
 * No text holds anything of a secret or of a body.
 */

export const PARTS = ['body', 'secret', 'clock', 'header'] as const
export type Part = (typeof PARTS)[number]

/** `general`: what is left when nothing closer fits; it stands after what does. */
type Entry = { part: Part; detail: string; next: string; general?: true }

const COPY_SECRET = "Store the endpoint's secret as it was shown: `whsec_` and 44 characters, in one line."
const RAW_BODY = 'Verify the bytes as they came in, before anything parses or decodes them, and parse afterwards.'
const PASS_HEADER = 'Pass the header on as it came in; look at proxies and frameworks between us and your code.'
const USE_SECONDS = 'Read the timestamp as whole seconds since 1970, in UTC, and compare it with a clock kept by NTP.'

export const FINDINGS = {
  SIGNATURE_MISSING: {
    part: 'header',
    detail: 'Neither X-Service-Signature nor webhook-signature is among the headers.',
    next: PASS_HEADER,
  },
  SERVICE_HEADER_MALFORMED: {
    part: 'header',
    detail: 'A piece of X-Service-Signature has no "=": it holds t=<seconds>,v1=<hex>.',
    next: PASS_HEADER,
  },
  SERVICE_HEADER_HAS_BLANKS: {
    part: 'header',
    detail: 'X-Service-Signature holds blanks between its pieces, which it has not when we send it.',
    next: PASS_HEADER,
  },
  T_MISSING: { part: 'header', detail: 'X-Service-Signature has no t=<seconds>.', next: PASS_HEADER },
  T_NOT_A_NUMBER: {
    part: 'header',
    detail: 't of X-Service-Signature is no number of seconds.',
    next: 'Take the digits between t= and the comma as they stand; no date, no fraction.',
  },
  V1_MISSING: { part: 'header', detail: 'X-Service-Signature has no v1=<hex>.', next: PASS_HEADER },
  V1_WRONG_CASE: {
    part: 'header',
    detail: 'X-Service-Signature says V1 where we write v1.',
    next: 'Leave the case of the header as it is: names in it are in lower case.',
  },
  V1_NOT_HEX: {
    part: 'header',
    detail: 'v1 of X-Service-Signature holds characters that are not of hex.',
    next: 'Take v1 of X-Service-Signature; the base64 form belongs to webhook-signature.',
  },
  V1_UPPERCASE_HEX: {
    part: 'header',
    detail: 'v1 of X-Service-Signature is in upper case; we write hex in lower case.',
    next: 'Leave the case of the header as it is, and compute your digest in lower-case hex.',
  },
  V1_WRONG_LENGTH: {
    part: 'header',
    detail: 'v1 of X-Service-Signature is not of 64 characters.',
    next: 'Look for what cuts the header; columns and log fields of a fixed length do.',
  },
  WEBHOOK_ID_MISSING: { part: 'header', detail: 'webhook-signature came without webhook-id.', next: PASS_HEADER },
  WEBHOOK_TIMESTAMP_MISSING: {
    part: 'header',
    detail: 'webhook-signature came without webhook-timestamp.',
    next: PASS_HEADER,
  },
  WEBHOOK_TIMESTAMP_NOT_A_NUMBER: {
    part: 'header',
    detail: 'webhook-timestamp is no number of seconds.',
    next: 'Take its digits as they stand; no date, no fraction.',
  },
  WEBHOOK_SIGNATURE_MALFORMED: {
    part: 'header',
    detail: 'A piece of webhook-signature has no comma: it holds v1,<base64>, several with a space between.',
    next: PASS_HEADER,
  },
  WEBHOOK_V1_MISSING: { part: 'header', detail: 'webhook-signature has no v1,<base64>.', next: PASS_HEADER },
  WEBHOOK_V1_WRONG_CASE: {
    part: 'header',
    detail: 'webhook-signature says V1 where we write v1.',
    next: 'Leave the case of the header as it is.',
  },
  WEBHOOK_V1_NOT_BASE64: {
    part: 'header',
    detail: 'v1 of webhook-signature is not in base64.',
    next: 'Take webhook-signature; the hex form belongs to X-Service-Signature. A "+" must not become a blank.',
  },
  WEBHOOK_V1_WRONG_LENGTH: {
    part: 'header',
    detail: 'v1 of webhook-signature is not of 44 characters.',
    next: 'Look for what cuts the header, or takes its "=" away.',
  },
  TIMESTAMP_CHANGED: {
    part: 'header',
    detail: 'The timestamp of one scheme is not the one that was signed; that of the other is.',
    next: PASS_HEADER,
  },
  WEBHOOK_ID_CHANGED: {
    part: 'header',
    detail: 'webhook-id is not the one that was signed.',
    next: 'Pass webhook-id on as it came in; do not put an id of your own under this name.',
  },
  SECRET_DECODED: {
    part: 'secret',
    detail: 'The secret was decoded from base64: these are its bytes.',
    next: 'Give the whole text `whsec_…`: X-Service-Signature is keyed with it, and libraries of Standard Webhooks decode it themselves.',
  },
  SECRET_ENCODED: {
    part: 'secret',
    detail: 'The secret was encoded in base64 once more.',
    next: `${COPY_SECRET} A Kubernetes Secret wants base64 under data, and text under stringData.`,
  },
  KEY_DECODED: {
    part: 'secret',
    detail: 'X-Service-Signature was computed with the decoded bytes of the secret.',
    next: 'Key X-Service-Signature with the whole text of the secret, `whsec_` included; only Standard Webhooks decodes it.',
  },
  KEY_NOT_DECODED: {
    part: 'secret',
    detail: 'webhook-signature was computed with the text of the secret.',
    next: 'Key Standard Webhooks with the bytes that stand in base64 after `whsec_`; only X-Service-Signature takes the text.',
  },
  SECRET_HAS_BLANKS: {
    part: 'secret',
    detail: 'The secret holds blanks or a line end.',
    next: `${COPY_SECRET} Files and echo add a line end.`,
  },
  SECRET_QUOTED: {
    part: 'secret',
    detail: 'The secret stands in quotation marks, which are not part of it.',
    next: COPY_SECRET,
  },
  SECRET_WITHOUT_PREFIX: {
    part: 'secret',
    detail: 'The secret does not start with `whsec_`, which is part of the key of X-Service-Signature.',
    next: COPY_SECRET,
  },
  SECRET_OTHER_ALPHABET: {
    part: 'secret',
    detail: 'The secret has "-" or "_" for "+" or "/", or its last "=" is gone.',
    next: COPY_SECRET,
  },
  SECRET_WRONG_CASE: { part: 'secret', detail: 'The secret has changed its case.', next: COPY_SECRET },
  SECRET_OF_ANOTHER_ENDPOINT: {
    part: 'secret',
    detail: 'The secret is that of another endpoint of this account.',
    next: 'Give each receiver the secret of the endpoint that delivers to it.',
  },
  SECRET_ROTATED: {
    part: 'secret',
    detail: 'The secret was replaced by a rotation, and its 24 hours are over.',
    next: 'Use the secret that the rotation answered; rotate again if it is lost.',
  },
  SECRET_TOO_NEW: {
    part: 'secret',
    detail: 'The delivery was signed before the rotation that made this secret.',
    next: 'Accept the previous secret beside the new one for some minutes after a rotation; later attempts carry both.',
  },
  SECRET_MALFORMED: {
    part: 'secret',
    detail: 'The secret does not have the form of one: `whsec_` and 44 characters of padded base64.',
    next: COPY_SECRET,
  },
  BODY_EMPTY: {
    part: 'body',
    detail: 'The body is empty.',
    next: 'Read the body before anything else does: most frameworks let it be read once only.',
  },
  BODY_OBJECT_TEXT: {
    part: 'body',
    detail: 'The body is "[object Object]": a parsed body was made a text.',
    next: RAW_BODY,
  },
  BODY_BOM: { part: 'body', detail: 'The body starts with a byte order mark, which was not sent.', next: RAW_BODY },
  BODY_TRAILING_NEWLINE: {
    part: 'body',
    detail: 'The body ends in a line end or blanks that were not sent.',
    next: `${RAW_BODY} Saving it by an editor or echo adds a line end; curl --data-binary and printf %s do not.`,
  },
  BODY_ENCODED_TWICE: {
    part: 'body',
    detail: 'The body is a JSON string that holds the body that was sent.',
    next: RAW_BODY,
  },
  BODY_REFORMATTED: {
    part: 'body',
    detail: 'The body holds the same values in another text: it was parsed and written again.',
    next: RAW_BODY,
  },
  BODY_CHARSET: {
    part: 'body',
    detail: 'The body was read in another character set than UTF-8.',
    next: `${RAW_BODY} Where text is needed, decode it as UTF-8.`,
  },
  BODY_URL_DECODED: {
    part: 'body',
    detail: 'The body was decoded as a form or an address: "+" and %XX have changed.',
    next: RAW_BODY,
  },
  BODY_URL_ENCODED: { part: 'body', detail: 'The body was encoded as a form or an address.', next: RAW_BODY },
  BODY_TRUNCATED: {
    part: 'body',
    detail: 'The body is cut short.',
    next: 'Wait for the end of the body, and look for a limit on its size or on the column that it is kept in.',
  },
  BODY_OF_ANOTHER_EVENT: {
    part: 'body',
    detail: 'The body is that of another event than the headers.',
    next: 'Keep body and headers of one request together; a variable shared by requests mixes them.',
  },
  T_IN_MILLISECONDS: {
    part: 'clock',
    detail: 'The timestamp is not in seconds: it looks like milliseconds.',
    next: USE_SECONDS,
  },
  TIMESTAMP_TOO_OLD: {
    part: 'clock',
    detail: 'The timestamp is more than 300 s back.',
    next: `${USE_SECONDS} Verify before you queue; each attempt of ours is signed anew.`,
  },
  TIMESTAMP_IN_FUTURE: {
    part: 'clock',
    detail: 'The timestamp is more than 300 s ahead.',
    next: USE_SECONDS,
  },
  SECRET_UNKNOWN: {
    part: 'secret',
    detail: 'No endpoint of this account has this secret.',
    next: `${COPY_SECRET} If it is lost, rotate the endpoint's secret.`,
    general: true,
  },
  BODY_CHANGED: { part: 'body', detail: 'The body is not the one that was sent.', next: RAW_BODY, general: true },
  BODY_OR_HEADER_CHANGED: {
    part: 'body',
    detail: 'The secret is right, the digest is not: the body has changed on its way, or, less likely, the header.',
    next: `${RAW_BODY} Send all headers here, webhook-id too, and the body is compared with the one that was sent.`,
    general: true,
  },
  SIGNATURE_CHANGED: {
    part: 'header',
    detail: 'Secret and body are right, the signature is not the one that was sent.',
    next: PASS_HEADER,
    general: true,
  },
} as const satisfies Record<string, Entry>

export type FindingCode = keyof typeof FINDINGS
export type WebhookFinding = { part: Part; code: FindingCode; detail: string; next: string }

/** @param more facts of this case, added to what is always said */
export const findingOf = (code: FindingCode, more = ''): WebhookFinding => {
  const { part, detail, next } = FINDINGS[code]
  return { part, code, detail: more === '' ? detail : `${detail} ${more}`, next }
}

const isGeneral = ({ code }: WebhookFinding): boolean => 'general' in FINDINGS[code]

/** The closest explanation first; each code once. */
export const inOrder = (findings: readonly WebhookFinding[]): WebhookFinding[] => {
  const once = findings.filter(({ code }, at) => findings.findIndex((one) => one.code === code) === at)
  return [...once.filter((one) => !isGeneral(one)), ...once.filter(isGeneral)]
}
