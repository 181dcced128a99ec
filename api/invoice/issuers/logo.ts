/**
 * The logo of an issuer: stored as it was sent, transcoded by the controllers, frozen onto each document at send
 * (rules/invoice.md#logos).
 */

import { sha256Of } from '../../../controllers/store/blobs.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { StoredAccount } from '../../../crds/account/view.ts'
import { logoFault } from '../../../crds/files/logo.ts'
import { type Command, type FactGoal, judgeFact } from '../../command/command.ts'
import { settle } from '../../command/settle.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { IssuerNeeds } from '../needs.ts'
import { answerIssuer, ownIssuer } from './issuers.ts'
import { wakeAccount } from './wake.ts'

const refuse = (reason: string): void =>
  refuseFaults([{ code: 'BAD_LOGO', pointer: '', detail: `The logo ${reason}.` }])

type LogoGoal = FactGoal & { issuer: string }

export const logoCommand: Command<LogoGoal, StoredAccount, Pick<Deps, 'issuers' | 'now'>> = {
  name: 'invoice.logo',
  kind: ACCOUNT,
  judge: judgeFact,
  async answer(deps, { caller }, { seq, issuer }) {
    const verdict = await deps.issuers.logoAsked(seq)
    if (verdict?.state === 'pending') return null
    if (verdict?.state === 'refused') refuse(verdict.reason ?? 'was refused')
    return answerIssuer(deps, caller, issuer)
  },
}

export const putLogo = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const { id } = await ownIssuer(deps, request)
  const { account, profile } = request.caller
  const bytes = request.form ?? Buffer.alloc(0)
  const fault = logoFault(bytes)
  if (fault !== null) refuse(fault)
  let pending: object = {}
  return settle(deps, request, logoCommand, {
    name: profile.id,
    whose: { account },
    resource: `/api/invoices/issuers/${id}`,
    pending: () => pending,
    async act() {
      await deps.blobs.put(bytes)
      const seq = await deps.issuers.askLogo({ account, id }, sha256Of(bytes), deps.now().toISOString())
      await wakeAccount(deps, request)
      pending = (await answerIssuer(deps, request.caller, id)).body as object
      return { seq, issuer: id }
    },
  })
}

export const getLogo = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const { id, logo } = await ownIssuer(deps, request)
  if (!logo) throw new Problem('NOT_FOUND', `Issuer ${id} has no logo.`)
  const bytes = await deps.blobs.get(logo.sha256)
  if (!bytes) throw new Problem('INTERNAL', 'The logo is recorded but its bytes are not there.')
  const type = bytes[0] === 0xff ? 'image/jpeg' : 'image/png'
  const headers = { 'content-type': type, 'cache-control': 'private, no-store', etag: `"${logo.sha256}"` }
  return { status: 200, bytes, headers }
}

export const deleteLogo = async (deps: IssuerNeeds, request: ApiRequest): Promise<Answer> => {
  const { id } = await ownIssuer(deps, request)
  await deps.issuers.dropLogo({ account: request.caller.account, id }, deps.now().toISOString())
  return { status: 204 }
}
