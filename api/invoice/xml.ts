/** The electronic invoice of the last frozen document: written from it on request, the same bytes each time. */
import { createHash } from 'node:crypto'
import type { Finding } from '../../crds/einvoice/finding.ts'
import { type Syntax, writeEInvoice } from '../../crds/einvoice/write.ts'
import type { Frozen } from '../../crds/invoice/frozen.ts'
import { restPointer } from '../../crds/rest.ts'
import type { Deps } from '../deps.ts'
import { Problem } from '../problem.ts'
import type { Answer, ApiRequest } from '../route.ts'
import { ownRow } from './read.ts'

const incomplete = (number: string, findings: Finding[]): Problem => {
  const faults = findings.map(({ rule, pointer, words }) => {
    return { code: 'XML_INCOMPLETE' as const, pointer: restPointer(pointer), detail: `${rule}: ${words}` }
  })
  const detail = `${number} breaks ${findings.length === 1 ? 'a rule' : `${findings.length} rules`} of EN 16931.`
  return new Problem('XML_INCOMPLETE', `${detail} ${faults[0]?.detail ?? ''}`, { faults })
}

export const getXml = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  const syntax: Syntax = request.query.syntax === 'ubl' ? 'ubl' : 'cii'
  const { sends } = await deps.ledger.observe(row.name)
  const frozen = sends.at(-1)?.frozen as Frozen | undefined
  if (!frozen) throw new Problem('XML_OF_DRAFT', `${row.name} was never sent.`)
  const written = writeEInvoice(frozen, syntax)
  if ('findings' in written) throw incomplete(frozen.number, written.findings)
  const bytes = Buffer.from(written.xml, 'utf8')
  const headers = {
    'content-type': 'application/xml; charset=utf-8',
    'content-disposition': `attachment; filename="${frozen.number}-${syntax}.xml"`,
    'cache-control': 'private, no-store',
    etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
  }
  return { status: 200, bytes, headers }
}
