/** GET /api/teams: the caller's teams and who is in them. Read-only: members are set on the Account by an administrator. */

import { spec } from '../../crds/account/schema.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { accountRow } from '../command/own.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { list, object, text, whole } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import type { Stores } from '../wiring/stores.ts'

type TeamNeeds = Pick<Deps, 'mirror'> & Pick<Stores, 'accounts'>

const listTeams = async (deps: TeamNeeds, { caller }: ApiRequest): Promise<Answer> => {
  // The caller's own copy may be ten seconds old.
  const row = await accountRow(deps, caller)
  const { teams } = row?.view ?? caller.profile
  const members = await deps.accounts.inTeams(teams)
  const shown = [...teams].sort().map((id) => ({
    id,
    members: members.filter((member) => member.teams.includes(id)).map(({ id, name }) => ({ id, name })),
  }))
  return { status: 200, body: { teams: shown, total: shown.length, limit: TEAMS_LIMIT, offset: 0 } }
}

/** An account is in no more teams than that, so there is one page. */
const TEAMS_LIMIT = spec.properties.teams.maxItems

const each = (description: string, properties: Record<string, JsonSchema>): JsonSchema =>
  list(description, object('One of them.', properties))

export const teamRoutes: Route<TeamNeeds>[] = [
  {
    method: 'GET',
    path: '/api/teams',
    summary: 'List my teams',
    description: 'Members may look at what a document says teams may look at; membership lets nobody change anything.',
    tag: 'Account',
    scope: { kind: 'token' },
    answers: {
      200: {
        description: 'My teams.',
        schema: {
          type: 'object',
          description: 'My teams.',
          properties: {
            teams: each('In the order of their ids.', {
              id: text('Id of the team.'),
              members: each('In the order of their ids.', { id: text('Id of the account.'), name: text('Its name.') }),
            }),
            total: whole('How many there are.'),
            limit: whole('The most there can be.'),
            offset: whole('Always 0.'),
          },
        },
      },
    },
    codes: [],
    handle: listTeams,
  },
]
