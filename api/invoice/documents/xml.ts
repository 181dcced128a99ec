/** The electronic invoice of a frozen document: the bytes that its PDF carries, or the same in UBL. */
import { createHash } from 'node:crypto'
import { enclosureOf, type Syntax, xmlOf } from '../../../crds/invoice/document/einvoice/write.ts'
import type { Enclosure, Frozen } from '../../../crds/invoice/order/frozen.ts'
import { restPointer } from '../../../crds/kernel/rest.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { DocumentNeeds } from '../needs.ts'
import { invoices } from '../read.ts'
import { newestOf } from './pdf.ts'

type Findings = Extract<Enclosure, { profile: null }>['findings']

const incomplete = (number: string, findings: Findings): Problem => {
  const faults = findings.map(({ rule, pointer, words }) => {
    return { code: 'XML_INCOMPLETE' as const, pointer: restPointer(pointer), detail: `${rule}: ${words}` }
  })
  const detail = `${number} breaks ${findings.length === 1 ? 'a rule' : `${findings.length} rules`} of EN 16931.`
  return new Problem('XML_INCOMPLETE', `${detail} ${faults[0]?.detail ?? ''}`, { faults })
}

/** @throws Problem XML_OF_DRAFT, NOT_FOUND */
const frozenOf = async (deps: DocumentNeeds, name: string, asked: string | undefined): Promise<Frozen> => {
  const sha256 = asked ?? (await newestOf(deps, name))
  if (sha256 === undefined) throw new Problem('XML_OF_DRAFT', `${name} was never sent.`)
  const frozen = await deps.documents.frozen(name, sha256)
  if (!frozen) throw new Problem('NOT_FOUND', 'This invoice has no such snapshot.')
  return frozen
}

export const getXml = async (deps: DocumentNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await invoices.find(deps, request)
  const syntax: Syntax = request.query.syntax === 'ubl' ? 'ubl' : 'cii'
  const frozen = await frozenOf(deps, row.name, request.query.sha256)
  const { number } = frozen
  if (frozen.voidedOn !== undefined) throw new Problem('XML_OF_VOID', `${number} is voided and asks for nothing.`)
  const { einvoice = enclosureOf(frozen) } = frozen
  if (einvoice.profile === null) throw incomplete(number, einvoice.findings)
  const bytes = Buffer.from(xmlOf(frozen, syntax), 'utf8')
  const headers = {
    'content-type': 'application/xml; charset=utf-8',
    'content-disposition': `attachment; filename="${number}-${syntax}.xml"`,
    'cache-control': 'private, no-store',
    etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
  }
  return { status: 200, bytes, headers }
}
