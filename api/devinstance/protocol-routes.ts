/** The routes of the protocol as data: what the provisioner confirms, what the dev instance reports, what the owner sets. */

import { REPORT } from '../../crds/devinstance/bootstrap/report.ts'
import { codesOf } from '../../crds/devinstance/life/codes.ts'
import {
  EIP_RELEASED,
  ENV_CHANGE,
  FINALIZE,
  HALTING,
  PROVISIONING,
  RENAMED,
  RESIZED,
  RESIZING,
  SHARE,
  STARTED,
  STARTING,
  STOPPED,
  TERMINATED,
  TERMINATING,
  type Trigger,
} from '../../crds/devinstance/protocol.ts'
import { MEASUREMENTS } from '../../crds/devinstance/sizing/profile.ts'
import { named } from '../../crds/kernel/named.ts'
import type { ObjectSchema } from '../../crds/kernel/schema.ts'
import { text } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { putEnv, revealEnv } from './env.ts'
import { takeReport } from './machine/report.ts'
import { reportAnswer } from './machine/shapes.ts'
import type { DevInstanceNeeds } from './needs.ts'
import * as protocol from './protocol.ts'
import * as shapes from './shapes.ts'
import { change, changed, ok, one, pendingAnswer, requested, tag } from './words.ts'

type Confirmation = {
  word: Trigger
  summary: string
  body: ObjectSchema
  handle: Route<DevInstanceNeeds>['handle']
  description?: string
}

/** A confirmation of the provisioner: compare-and-set, safe to repeat under an Idempotency-Key. */
const confirmation = ({ word, body, ...rest }: Confirmation) => ({
  ...change,
  ...rest,
  method: 'POST' as const,
  path: `${one}/${word}`,
  body: shapes.bodyOf(body),
  answers: changed,
  codes: codesOf(word),
})

/** A request before the cloud is asked: refused, or announced; with dryRun nothing is kept of it. */
const request = ({ description, ...rest }: Confirmation & { description: string }): Route<DevInstanceNeeds> => ({
  ...confirmation({
    ...rest,
    description: `${description} ?dryRun=1 tells what would become of it, the cap included, and does nothing.`,
  }),
  query: { dryRun: named('DevboxDryRun', { ...text('1: tell what would happen, and do nothing.'), enum: ['1'] }) },
  answers: requested,
})

export const provisionerRoutes: Route<DevInstanceNeeds>[] = [
  confirmation({
    word: 'provisioning',
    summary: 'Report the launched instance',
    description: 'Starts the lease of 30 minutes.',
    body: PROVISIONING,
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
    codes: codesOf('token'),
    handle: protocol.issueToken,
  },
  confirmation({
    word: 'finalize',
    summary: 'Finalize the instance',
    description: 'Facts of the cloud and what sshd -T says; all of it must hold.',
    body: FINALIZE,
    handle: protocol.finalize,
  }),
  request({
    word: 'starting',
    summary: 'Ask to start the instance',
    description: 'Checked against the cap where the start will allocate a further address.',
    body: STARTING,
    handle: protocol.starting,
  }),
  confirmation({
    word: 'started',
    summary: 'Confirm a start',
    body: STARTED,
    handle: protocol.started,
  }),
  request({
    word: 'halting',
    summary: 'Ask to stop the instance',
    description:
      'As spec.power wishes it in Kubernetes: shown as wanted until it is so, and the spec stays as it is. Disk and address are kept.',
    body: HALTING,
    handle: protocol.halting,
  }),
  confirmation({
    word: 'stopped',
    summary: 'Confirm a stop',
    body: STOPPED,
    handle: protocol.stopped,
  }),
  request({
    word: 'resizing',
    description: 'Checked against the cap; it spends an override.',
    summary: 'Announce a resize',
    body: RESIZING,
    handle: protocol.resizing,
  }),
  confirmation({
    word: 'resized',
    summary: 'Confirm a resize',
    body: RESIZED,
    handle: protocol.resized,
  }),
  confirmation({
    word: 'renamed',
    summary: 'Confirm a new name',
    body: RENAMED,
    handle: protocol.renamed,
  }),
  confirmation({
    word: 'eip-released',
    summary: 'Confirm that an address was released',
    body: EIP_RELEASED,
    handle: protocol.eipReleased,
  }),
  request({
    word: 'terminating',
    summary: 'Ask to take the instance down',
    description: 'Checked for work that was not pushed, while it is there to be saved.',
    body: TERMINATING,
    handle: protocol.terminating,
  }),
  confirmation({
    word: 'terminated',
    summary: 'Confirm what is left of the instance no more',
    description: 'All of it, or the parts that are gone so far.',
    body: TERMINATED,
    handle: protocol.terminated,
  }),
  {
    method: 'POST',
    path: `${one}/report`,
    summary: 'Report from the instance',
    tag,
    scope: { kind: 'report' },
    observes: true,
    secretAnswer: true,
    body: REPORT,
    answers: ok('The policy in force, who may log in, and once the environment.', reportAnswer),
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
    codes: codesOf('repo'),
    handle: protocol.putRepo,
  },
  {
    ...change,
    method: 'PUT',
    path: `${one}/measurements`,
    summary: 'Store what a warm-up measured',
    body: shapes.bodyOf(MEASUREMENTS),
    answers: { ...ok('The sizing that follows.', shapes.sizingAnswer), 202: pendingAnswer },
    codes: codesOf('measurements'),
    handle: protocol.putMeasurements,
  },
  {
    ...change,
    method: 'PUT',
    path: `${one}/env`,
    summary: 'Replace the environment',
    body: shapes.bodyOf(ENV_CHANGE),
    answers: { ...ok('Names only.', shapes.keysShape), 202: pendingAnswer },
    codes: codesOf('env'),
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
    codes: codesOf('cap-override'),
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
    codes: codesOf('share'),
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
