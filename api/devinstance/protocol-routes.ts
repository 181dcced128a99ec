/** The routes of the protocol as data: what the provisioner confirms, what the dev instance reports, what the owner sets. */

import { REPORT } from '../../crds/devinstance/bootstrap/report.ts'
import {
  EIP_RELEASED,
  ENV_CHANGE,
  FINALIZE,
  PROVISIONING,
  RENAMED,
  RESIZED,
  RESIZING,
  SHARE,
  STARTED,
  STOPPED,
  TERMINATED,
} from '../../crds/devinstance/protocol.ts'
import { MEASUREMENTS } from '../../crds/devinstance/sizing/profile.ts'
import type { ProblemCode } from '../../crds/kernel/problem.ts'
import type { ObjectSchema } from '../../crds/kernel/schema.ts'
import type { Route } from '../wiring/route.ts'
import { putEnv, revealEnv } from './env.ts'
import type { DevInstanceNeeds } from './needs.ts'
import * as protocol from './protocol.ts'
import { takeReport } from './report.ts'
import * as shapes from './shapes.ts'
import { change, changed, ok, one, pendingAnswer, tag } from './words.ts'

type Confirmation = {
  word: string
  summary: string
  body: ObjectSchema
  codes: ProblemCode[]
  handle: Route<DevInstanceNeeds>['handle']
  description?: string
}

/** A confirmation of the provisioner: compare-and-set, safe to repeat under an Idempotency-Key. */
const confirmation = ({ word, body, codes, ...rest }: Confirmation): Route<DevInstanceNeeds> => ({
  ...change,
  ...rest,
  method: 'POST',
  path: `${one}/${word}`,
  body: shapes.bodyOf(body),
  answers: changed,
  codes: [...codes, 'WRONG_STATE'],
})
const VERSIONED: ProblemCode[] = ['VERSION_CONFLICT', 'RESIZE_PENDING']

export const provisionerRoutes: Route<DevInstanceNeeds>[] = [
  confirmation({
    word: 'provisioning',
    summary: 'Report the launched instance',
    description: 'Starts the lease of 30 minutes.',
    body: PROVISIONING,
    codes: ['INSTANCE_MISMATCH', 'LEASE_EXPIRED'],
    handle: protocol.provisioning,
  }),
  {
    ...change,
    method: 'POST',
    path: `${one}/token`,
    summary: 'Issue the report token',
    description: 'The one before it is void at once.',
    secretAnswer: true,
    answers: { 201: { description: 'The token.', schema: shapes.tokenShape }, 202: pendingAnswer },
    codes: ['LEASE_EXPIRED', 'WRONG_STATE'],
    handle: protocol.issueToken,
  },
  confirmation({
    word: 'finalize',
    summary: 'Finalize the instance',
    description: 'Facts of the cloud and what sshd -T says; all of it must hold.',
    body: FINALIZE,
    codes: ['INSTANCE_MISMATCH', 'ASSERTION_FAILED', 'ADDRESS_IN_USE'],
    handle: protocol.finalize,
  }),
  confirmation({
    word: 'started',
    summary: 'Confirm a start',
    body: STARTED,
    codes: [...VERSIONED, 'ADDRESS_PAIR_REQUIRED', 'ADDRESS_MISMATCH', 'ADDRESS_IN_USE', 'CAP_EXCEEDED'],
    handle: protocol.started,
  }),
  confirmation({
    word: 'stopped',
    summary: 'Confirm a stop',
    body: STOPPED,
    codes: VERSIONED,
    handle: protocol.stopped,
  }),
  confirmation({
    word: 'resizing',
    summary: 'Announce a resize',
    description: 'The cap is checked again.',
    body: RESIZING,
    codes: [...VERSIONED, 'ARCH_CHANGE', 'DISK_SHRINK', 'CAP_EXCEEDED', 'WORK_AT_RISK'],
    handle: protocol.resizing,
  }),
  confirmation({
    word: 'resized',
    summary: 'Confirm a resize',
    body: RESIZED,
    codes: [
      'VERSION_CONFLICT',
      'NO_RESIZE_INTENT',
      'ARCH_CHANGE',
      'DISK_SHRINK',
      'ASSERTION_FAILED',
      'ADDRESS_PAIR_REQUIRED',
      'ADDRESS_MISMATCH',
      'ADDRESS_IN_USE',
      'CAP_EXCEEDED',
    ],
    handle: protocol.resized,
  }),
  confirmation({
    word: 'renamed',
    summary: 'Confirm a new name',
    body: RENAMED,
    codes: ['VERSION_CONFLICT', 'NAME_TAKEN'],
    handle: protocol.renamed,
  }),
  confirmation({
    word: 'eip-released',
    summary: 'Confirm that an address was released',
    body: EIP_RELEASED,
    codes: [...VERSIONED, 'ADDRESS_MISMATCH'],
    handle: protocol.eipReleased,
  }),
  confirmation({
    word: 'terminated',
    summary: 'Confirm that nothing is left of the instance',
    body: TERMINATED,
    codes: ['VERSION_CONFLICT', 'INSTANCE_LIVE', 'WORK_AT_RISK'],
    handle: protocol.terminated,
  }),
  {
    method: 'POST',
    path: `${one}/report`,
    summary: 'Report from the instance',
    tag,
    scope: { kind: 'report' },
    observes: true,
    body: REPORT,
    answers: ok('The policy in force.', shapes.policyShape),
    codes: [],
    handle: takeReport,
  },
]

export const ownerRoutes: Route<DevInstanceNeeds>[] = [
  {
    ...change,
    method: 'PUT',
    path: `${one}/repo`,
    summary: 'Assign a repository',
    description: 'With a fresh profile of it; the server computes what size it needs.',
    body: shapes.repoBody(),
    answers: changed,
    codes: ['PROFILE_STALE', 'RESIZE_REQUIRED', 'VERSION_CONFLICT', 'WRONG_STATE'],
    handle: protocol.putRepo,
  },
  {
    ...change,
    method: 'PUT',
    path: `${one}/measurements`,
    summary: 'Store what a warm-up measured',
    body: shapes.bodyOf(MEASUREMENTS),
    answers: { ...ok('The sizing that follows.', shapes.sizingAnswer), 202: pendingAnswer },
    codes: ['WRONG_STATE'],
    handle: protocol.putMeasurements,
  },
  {
    ...change,
    method: 'PUT',
    path: `${one}/env`,
    summary: 'Replace the environment',
    body: shapes.bodyOf(ENV_CHANGE),
    answers: { ...ok('Names only.', shapes.keysShape), 202: pendingAnswer },
    codes: ['WRONG_STATE'],
    handle: putEnv,
  },
  {
    ...change,
    method: 'POST',
    path: `${one}/env/reveal`,
    summary: 'Show the environment',
    description: 'To its owner alone; told in the history and in the audit, by names.',
    looks: true,
    secretAnswer: true,
    answers: ok('The environment.', shapes.envShape),
    codes: [],
    handle: revealEnv,
  },
  {
    ...change,
    role: 'admin',
    method: 'POST',
    path: `${one}/cap-override`,
    summary: 'Let the next resize exceed the cap',
    description: 'Once, on record.',
    answers: changed,
    codes: ['WRONG_STATE'],
    handle: protocol.capOverride,
  },
  {
    ...change,
    method: 'POST',
    path: `${one}/teams`,
    summary: 'Share with a team',
    description: 'Its members may look at it.',
    body: shapes.bodyOf(SHARE),
    answers: changed,
    codes: ['INVALID_FIELD'],
    handle: protocol.share,
  },
  {
    ...change,
    method: 'DELETE',
    path: `${one}/teams/:teamId`,
    summary: 'Share no longer with a team',
    answers: changed,
    codes: [],
    handle: protocol.unshare,
  },
]
