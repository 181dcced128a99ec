/** Sends mail over SMTP, through few connections that are kept open. The only file that imports nodemailer. */
import { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import * as base64 from 'nodemailer/lib/base64'
import type MimeNode from 'nodemailer/lib/mime-node'
import * as quotedPrintable from 'nodemailer/lib/qp'

export type MailAddress = { name: string; address: string }

export type Mail = {
  /** `<id@domain>`; the same over all tries of one mail, so that a receiver can tell a repeat. */
  messageId: string
  to: MailAddress
  replyTo?: MailAddress
  subject: string
  text: string
  html: string
  headers?: Record<string, string>
  date: Date
}

export type Mailer = {
  /** Gives the server's words once it has taken the mail. @throws MailError */
  send(mail: Mail): Promise<{ accepted: true; response: string }>
  /** Connects and logs in. @throws MailError */
  verify(): Promise<void>
  /** Ends idle connections now, busy ones after their mail. */
  close(): void
}

/** All in milliseconds; `totalMs` bounds one send from beginning to end, whatever the server does. */
export type MailTimeouts = { connectMs: number; greetingMs: number; idleMs: number; totalMs: number }

export const MAIL_TIMEOUTS: MailTimeouts = { connectMs: 10_000, greetingMs: 10_000, idleMs: 20_000, totalMs: 30_000 }
export const POOL_MAX = 4
const MAILS_PER_CONNECTION = 1000
const RECONNECTS_MAX = 2

/**
 * A mail that was not sent, or perhaps was. `temporary`: another try may succeed (no connection, no login, 4xx,
 * time-out); false for a 5xx to this mail and for what cannot be sent at all.
 * `sentData`: the whole mail was handed over and no answer came, so it may have been delivered: the outcome is unknown.
 * `response` holds the server's words, or ''. No password is ever in it.
 */
export class MailError extends Error {
  readonly temporary: boolean
  readonly code: string
  readonly response: string
  readonly sentData: boolean
  constructor(message: string, facts: { temporary: boolean; code: string; response?: string; sentData?: boolean }) {
    super(message)
    this.name = 'MailError'
    this.temporary = facts.temporary
    this.code = facts.code
    this.response = facts.response ?? ''
    this.sentData = facts.sentData ?? false
  }
}

type SmtpError = { message?: string; code?: string; response?: string; responseCode?: number }

/** What is said about this mail; all else (no connection, no login, no TLS) is about the server or the installation. */
const ABOUT_THE_MAIL = new Set(['EENVELOPE', 'EMESSAGE'])

const classed = (thrown: unknown, handedOver: boolean): MailError => {
  const { message = 'The mail was not sent', code = 'EUNKNOWN', response = '', responseCode } = thrown as SmtpError
  const answered = responseCode !== undefined && responseCode >= 400
  const temporary = !ABOUT_THE_MAIL.has(code) || (answered && responseCode < 500)
  return new MailError(message, { temporary, code, response, sentData: handedOver && !answered })
}

/**
 * The server closes this connection (RFC 5321 section 3.8), mostly because it was idle: it is answered to whatever comes
 * next, says nothing of the mail, and another connection may serve.
 */
const isClosing = ({ response }: MailError): boolean => response.startsWith('421')

const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}@[^\s@<>,;:"()[\]\\\p{C}]{1,255}$/u
const MESSAGE_ID = /^<[\w.+=-]{1,120}@[\w.-]{1,120}>$/
const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/

const refuse = (what: string): never => {
  throw new MailError(`${what} is not usable in a mail`, { temporary: false, code: 'EADDRESS' })
}

/**
 * What stands in one line of a header: a line break in it would begin another header, and `=?` an encoded word that
 * the reader's program would decode into something else than what stands here.
 */
const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('=?', '= ?')
    .trim()

const mailbox = ({ name, address }: MailAddress, what: string): MailAddress =>
  ADDRESS.test(address) ? { name: oneLine(name), address } : refuse(what)

const headersOf = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      HEADER.test(name) ? name : refuse('A header name'),
      oneLine(value),
    ]),
  )

/** The words of one part, as its headers say that they are written (RFC 2045, section 6). */
const bodyOf = (part: MimeNode): string => {
  if (typeof part.content !== 'string') throw new Error('a part of a mail is no text')
  const text = part.content.replace(/\r?\n/g, '\r\n')
  const encoding = part.getTransferEncoding()
  if (encoding === 'quoted-printable') return quotedPrintable.wrap(quotedPrintable.encode(text))
  return encoding === 'base64' ? base64.wrap(base64.encode(text)) : text
}

/** A part with its headers and all parts in it (RFC 2046, section 5.1). */
const wholeOf = (part: MimeNode): string => {
  const head = `${part.buildHeaders()}\r\n\r\n`
  // known once the headers are written
  const { boundary } = part
  if (!boundary) return head + bodyOf(part)
  const parts = part.childNodes.map((one) => `--${boundary}\r\n${wholeOf(one)}\r\n`)
  return `${head}${parts.join('')}--${boundary}--\r\n`
}

/** The little of nodemailer's message that its plugins are given. */
type Outgoing = { data: { onBody?: (body: Readable) => void }; message: MimeNode }

/**
 * Composes the mail before it has a connection. nodemailer leads each part through five streams and writes each of a dozen
 * pieces to the socket by itself: texts that are at hand in one piece cost a third of the CPU (hack/decisions/121). And only
 * the body knows whether all of it was handed over.
 */
const inOnePiece = (outgoing: unknown, done: (fault?: Error | null) => void): void => {
  const { data, message } = outgoing as Outgoing
  try {
    const bytes = Buffer.from(wholeOf(message))
    message.createReadStream = () => {
      const body = Readable.from([bytes], { objectMode: false })
      data.onBody?.(body)
      return body
    }
    done()
  } catch (fault) {
    done(fault as Error)
  }
}

/**
 * `url` is `smtp://` or `smtps://` with user and password in it, if any; `?requireTLS=true` insists on STARTTLS.
 * `from` is the address of the installation, plain or as `Name <address>`.
 */
export const makeMailer = (options: { url: string; from: string; pool: number; timeouts?: MailTimeouts }): Mailer => {
  const { connectMs, greetingMs, idleMs, totalMs } = options.timeouts ?? MAIL_TIMEOUTS
  const from = senderOf(options.from)
  const transport = createTransport({
    url: options.url,
    pool: true,
    maxConnections: Math.min(options.pool, POOL_MAX),
    maxMessages: MAILS_PER_CONNECTION,
    maxRequeues: RECONNECTS_MAX,
    connectionTimeout: connectMs,
    dnsTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: idleMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  transport.use('stream', inOnePiece)

  const attempt = async (mail: Mail, signal: AbortSignal): Promise<{ accepted: true; response: string }> => {
    const bodies: Readable[] = []
    const composed = {
      from,
      to: mailbox(mail.to, 'The recipient'),
      ...(mail.replyTo ? { replyTo: mailbox(mail.replyTo, 'The address for replies') } : {}),
      envelope: { from: from.address, to: [mail.to.address] },
      messageId: MESSAGE_ID.test(mail.messageId) ? mail.messageId : refuse('The Message-ID'),
      date: mail.date,
      subject: oneLine(mail.subject),
      text: mail.text,
      html: mail.html,
      headers: headersOf(mail.headers ?? {}),
      signal,
      onBody: (body: Readable) => bodies.push(body),
    }
    try {
      const { response } = await transport.sendMail(composed)
      return { accepted: true, response }
    } catch (thrown) {
      throw classed(
        thrown,
        bodies.some((body) => body.readableEnded),
      )
    }
  }
  const send = async (mail: Mail): Promise<{ accepted: true; response: string }> => {
    // Not AbortSignal.timeout: it cannot be called off, and would fire (with a stack) long after each mail that went out.
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), totalMs)
    try {
      return await attempt(mail, limit.signal).catch((error: MailError) => {
        if (!isClosing(error) || limit.signal.aborted) throw error
        return attempt(mail, limit.signal)
      })
    } finally {
      clearTimeout(timer)
    }
  }
  const verify = async (): Promise<void> => {
    await transport.verify().catch((thrown: unknown) => {
      throw classed(thrown, false)
    })
  }
  return { send, verify, close: () => transport.close() }
}

const senderOf = (text: string): MailAddress => {
  const named = /^(.*)<([^<>]+)>\s*$/s.exec(text)
  return mailbox({ name: (named?.[1] ?? '').trim(), address: (named?.[2] ?? text).trim() }, 'The sender')
}
