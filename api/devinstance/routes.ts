/** The routes of dev instances as data. Names are camelCase on this surface (rules/devinstance.md#the-instance). */
import { codesOf, RESERVATION_CODES } from '../../crds/devinstance/life/codes.ts'
import { spec } from '../../crds/devinstance/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import { pageQuery } from '../openapi/paging.ts'
import { object, text } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { deleteDevInstance, patchDevInstance } from './change.ts'
import type { DevInstanceNeeds } from './needs.ts'
import { ownerRoutes, provisionerRoutes } from './protocol-routes.ts'
import { costAnswer, costQuery, getCosts } from './reading/costs.ts'
import {
  getAgents,
  getBootstrap,
  getDevInstance,
  getHistory,
  getProposal,
  getSizes,
  listDevInstances,
  sizeRepository,
} from './reading/read.ts'
import { reserveDevInstance } from './reserve.ts'
import * as shapes from './shapes.ts'
import { all, change, changed, manages, ok, one, pendingAnswer, reads, tag } from './words.ts'

const deleted = named('Deleted', {
  ...text('1: those that were deleted, instead of those that are there.'),
  enum: ['1'],
})

const region = {
  ...text('A region of the cloud, as its provider calls it; the default one when left out.'),
  pattern: '^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$',
  maxLength: 32,
}

const catalogueRoutes: Route<DevInstanceNeeds>[] = [
  {
    method: 'GET',
    path: `${all}/sizes`,
    summary: 'List the sizes',
    description:
      'Each class on each architecture, with its all-in monthly price, and the types that stand in. With region: at its prices, where they were reviewed.',
    tag,
    scope: reads,
    query: { region },
    answers: ok('The catalogue.', shapes.sizesShape),
    codes: ['REGION_NOT_PRICED'],
    handle: getSizes,
  },
  {
    method: 'GET',
    path: `${all}/agents`,
    summary: 'List the agents',
    description: 'Each with its pinned version and how to log in.',
    tag,
    scope: reads,
    answers: ok('The agents.', shapes.agentsShape),
    codes: [],
    handle: getAgents,
  },
  {
    method: 'GET',
    path: `${all}/costs`,
    summary: 'What was committed and what was spent',
    description:
      "By month, owner and state, of the caller's own instances, those that were deleted too; of all owners for admins. Spent follows from the facts, committed from the prices that were reserved at.",
    tag,
    scope: reads,
    query: costQuery,
    answers: ok('The costs.', costAnswer),
    codes: ['COSTS_TOO_MANY'],
    handle: getCosts,
  },
  {
    method: 'POST',
    path: `${all}/size`,
    summary: 'Find the size for a repository',
    description: 'Changes nothing.',
    tag,
    scope: manages,
    looks: true,
    body: shapes.bodyOf(shapes.SIZE_REQUEST),
    answers: ok('The sizing.', shapes.sizingAnswer),
    codes: [],
    handle: sizeRepository,
  },
  {
    method: 'GET',
    path: all,
    summary: 'List dev instances',
    description:
      "The caller's own and those shared with a team of the caller; all of them for admins. With deleted: what is kept of those that were deleted, for owner and admins.",
    tag,
    scope: reads,
    query: { ...pageQuery, deleted },
    answers: ok('One page.', shapes.listAnswer),
    codes: [],
    handle: listDevInstances,
  },
]

const instanceRoutes: Route<DevInstanceNeeds>[] = [
  {
    ...change,
    method: 'POST',
    path: all,
    summary: 'Reserve a dev instance',
    description: 'Its name and its part of the monthly cap are taken before any cloud call.',
    body: shapes.bodyOf(spec),
    answers: { 201: { description: 'Reserved.', schema: shapes.reservationAnswer }, 202: pendingAnswer },
    codes: RESERVATION_CODES,
    handle: reserveDevInstance,
  },
  {
    method: 'GET',
    path: one,
    summary: 'Read a dev instance',
    description:
      'With deleted: what is kept of one that was deleted, with its cost and what was said of it since, for owner and admins.',
    tag,
    scope: reads,
    query: { deleted },
    answers: ok('The instance.', shapes.wrapped),
    codes: [],
    handle: getDevInstance,
  },
  {
    method: 'GET',
    path: `${one}/events`,
    summary: 'The history of a dev instance',
    description: 'All of it, by pages. With deleted: of one that was deleted, for owner and admins.',
    tag,
    scope: reads,
    query: { ...pageQuery, deleted },
    answers: ok('One page.', shapes.historyAnswer),
    codes: [],
    handle: getHistory,
  },
  {
    ...change,
    method: 'PATCH',
    path: one,
    summary: 'Change the policy of a dev instance',
    body: shapes.bodyOf(shapes.POLICY_CHANGE),
    answers: changed,
    codes: codesOf('policy'),
    handle: patchDevInstance,
  },
  {
    ...change,
    method: 'DELETE',
    path: one,
    summary: 'Delete a dev instance',
    description: 'The row is kept as a tombstone; name and cost are free.',
    answers: { ...ok('The tombstone.', object('The tombstone.', { devbox: shapes.itemAnswer })), 202: pendingAnswer },
    codes: codesOf('delete'),
    handle: deleteDevInstance,
  },
  {
    method: 'GET',
    path: `${one}/bootstrap`,
    summary: 'The user data of a dev instance',
    description:
      'Cloud-init, without a secret, every installer pinned; gzip when over 16 KB. For the owner and admins.',
    tag,
    scope: manages,
    answers: {
      200: {
        description: 'The user data.',
        contentType: 'text/plain',
        schema: { type: 'string' },
        orAs: ['application/gzip'],
      },
    },
    codes: [],
    handle: getBootstrap,
  },
  {
    method: 'GET',
    path: `${one}/proposal`,
    summary: 'The open resize proposal',
    tag,
    scope: reads,
    answers: ok('The proposal.', shapes.proposalShape),
    codes: [],
    handle: getProposal,
  },
]

export const devInstanceRoutes: Route<DevInstanceNeeds>[] = [
  ...catalogueRoutes,
  ...instanceRoutes,
  ...provisionerRoutes,
  ...ownerRoutes,
]
