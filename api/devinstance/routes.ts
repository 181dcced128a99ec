/** The routes of dev instances as data. Names are camelCase on this surface (rules/devinstance.md#the-instance). */
import { spec } from '../../crds/devinstance/schema.ts'
import { pageQuery } from '../openapi/paging.ts'
import { object } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { deleteDevInstance, patchDevInstance } from './change.ts'
import { devInstances } from './find.ts'
import type { DevInstanceNeeds } from './needs.ts'
import { ownerRoutes, provisionerRoutes } from './protocol-routes.ts'
import { getAgents, getBootstrap, getProposal, getSizes, sizeRepository } from './read.ts'
import { reserveDevInstance } from './reserve.ts'
import * as shapes from './shapes.ts'
import { all, change, changed, manages, ok, one, pendingAnswer, reads, tag } from './words.ts'

const catalogueRoutes: Route<DevInstanceNeeds>[] = [
  {
    method: 'GET',
    path: `${all}/sizes`,
    summary: 'List the sizes',
    description: 'Each class on each architecture, with its all-in monthly price.',
    tag,
    scope: reads,
    answers: ok('The catalogue.', shapes.sizesShape),
    codes: [],
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
    description: "The caller's own and those shared with a team of the caller; all of them for admins.",
    tag,
    scope: reads,
    query: pageQuery,
    answers: ok('One page.', shapes.listAnswer),
    codes: [],
    handle: devInstances.list,
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
    codes: ['NAME_TAKEN', 'CAP_EXCEEDED', 'BOOTSTRAP_TOO_LARGE'],
    handle: reserveDevInstance,
  },
  {
    method: 'GET',
    path: one,
    summary: 'Read a dev instance',
    tag,
    scope: reads,
    answers: ok('The instance.', shapes.wrapped),
    codes: [],
    handle: devInstances.get,
  },
  {
    ...change,
    method: 'PATCH',
    path: one,
    summary: 'Change the policy of a dev instance',
    body: shapes.bodyOf(shapes.POLICY_CHANGE),
    answers: changed,
    codes: ['WRONG_STATE'],
    handle: patchDevInstance,
  },
  {
    ...change,
    method: 'DELETE',
    path: one,
    summary: 'Delete a dev instance',
    description: 'The row is kept as a tombstone; name and cost are free.',
    answers: { ...ok('The tombstone.', object('The tombstone.', { devbox: shapes.itemAnswer })), 202: pendingAnswer },
    codes: ['INSTANCE_LIVE'],
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
    answers: { 200: { description: 'The user data.', contentType: 'text/plain', schema: { type: 'string' } } },
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
