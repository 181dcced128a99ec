/** The routes by which an app moves to another host, and all apps of one (rules/app.md#moves, rules/host.md#draining). */
import { appAnswer, operationAnswer, releaseAnswer } from '../../../crds/app/answer.ts'
import { FORWARD_SECONDS_MAX } from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import { livingSitesAnswer } from '../../../crds/host/answer.ts'
import { CLASSES } from '../../../crds/host/schema.ts'
import { ID_MAX, NAME_PATTERN } from '../../../crds/kernel/fields.ts'
import { named } from '../../../crds/kernel/named.ts'
import { amounts } from '../../openapi/amounts.ts'
import { closed, flag, list, object, oneOf, pendingOf, text, textOrNull, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import { confirmDowntime } from '../deploy.ts'
import type { AppNeeds } from '../needs.ts'
import { drainHost } from './drain.ts'
import { moveApp } from './move.ts'

const side = named('MoveSide', {
  ...object('A host.', {
    host_id: text('Names the host.'),
    class: oneOf('Its class.', CLASSES),
    arch: textOrNull('Its processor.'),
    url: textOrNull('Where the app is reached on it.'),
    address: text('Where the host is reached by visitors.'),
  }),
  type: ['object', 'null'],
})

const plan = named(
  'MovePlan',
  object(
    'With dry_run: what would happen. from: the host that it would leave, null where that is no more; to: the one that it would live on.',
    {
      from: side,
      to: side,
      release: whole('The number of the live release, which is made once more.'),
      source_digest: text('The upload that it is made from.'),
      downtime_seconds: whole(
        'About so long nothing of it runs, which has to be confirmed. 0 where it keeps nothing: both run until visitors are on the other one.',
      ),
      downtime_seconds_max: whole('After that the host that it would leave starts it again by itself.'),
      volumes: list(
        'What it keeps, which goes with it.',
        object('A volume.', {
          name: text('As the compose file names it.'),
          bytes: { type: ['integer', 'null'], description: 'On disk; null while it is not measured.' },
        }),
      ),
      disk_free_gib: {
        type: ['integer', 'null'],
        description: 'Of the disk of the other host, as it was inspected last. It takes what it keeps twice at first.',
      },
      room: object('What it takes there.', {
        wanted: amounts('What the app may use.'),
        free: amounts('What is left; null where that is not known.'),
      }),
      domains: list(
        'The names that visitors come by.',
        object('A name.', {
          hostname: text('As it is now.'),
          managed: flag('Below the base domain of a host.'),
          becomes: textOrNull('What it is called there: another name where the other host has another base domain.'),
          records: list(
            'Records of the DNS that have to be changed before visitors are no longer sent on.',
            object('A record.', {
              type: text('A, AAAA or CNAME.'),
              name: text('Its name.'),
              value: text('Its value.'),
            }),
          ),
        }),
      ),
      forward_seconds: whole('How long visitors who come to the host of before are sent on.'),
      forward_until: text('Until then, if it went now; then what is left there goes.'),
      is_forwarded: flag('false: nothing may be done on the host of before, which goes on serving what it has.'),
    },
  ),
)

const drained = object('What becomes of what lives on it.', {
  host_id: text('The host.'),
  cordoned: flag('It takes nothing new.'),
  apps: list(
    'Each app that lives on it.',
    named(
      'DrainedApp',
      object('An app.', {
        app: text('Names it.'),
        account: text('Whose it is.'),
        state: oneOf('moving: its move is an operation. stays: detail says why.', ['moving', 'stays']),
        to: textOrNull('The host that it moves to.'),
        operation_id: textOrNull('The operation, which tells how far it is.'),
        code: textOrNull('Why it stays.'),
        detail: textOrNull('The same in words.'),
      }),
    ),
  ),
  sites: livingSitesAnswer,
})

export const moveRoutes: Route<AppNeeds>[] = [
  {
    tag: 'Apps',
    scope: { kind: 'scope', scope: 'apps:manage' },
    capability: 'app.deploy',
    method: 'POST',
    path: '/api/apps/:id/move',
    summary: 'Move an app to another host',
    description:
      'The live release is made once more on the other host, from its upload and with its env; what is built is built there, and names of images are pulled anew. Once it answers there and its name has a certificate, visitors are sent to it, and the proxy of the host of before sends on whoever still comes there, for forward_seconds; then what is left there goes. Until the switch the one before serves, also when the move fails or is cancelled. What it keeps in volumes goes with it: all of it stops meanwhile, which has to be confirmed (confirm_downtime=1), and is started again where it was when the move fails, on volumes that nobody has touched; these go with what is left there. ?dry_run=1 tells the plan.',
    query: {
      ...confirmDowntime,
      dry_run: named('DryRun', { ...text('1: tell what would happen, and do nothing.'), enum: ['1'] }),
    },
    body: {
      ...closed(
        object('Where to.', {
          host_id: { ...text('The host.'), minLength: 1, maxLength: ID_MAX, pattern: NAME_PATTERN },
          forward_seconds: {
            ...whole(
              'How long visitors who come to the host of before are sent on: for as long as the DNS may lead there. A day when left out.',
            ),
            minimum: 0,
            maximum: FORWARD_SECONDS_MAX,
          },
        }),
      ),
      required: ['host_id'],
    },
    answers: {
      200: named('EndedMove', {
        description: 'It has ended; operation.state says how. With dry_run: the plan.',
        schema: object('What came of it.', {
          operation_id: text('Names the operation.'),
          operation: operationAnswer,
          release: releaseAnswer,
          app: appAnswer,
          plan,
        }),
      }),
      202: pendingOf('PendingMove', 'It waits or runs. Poll the address in Location.', { operation: operationAnswer }),
    },
    codes: [
      ...([
        'NOT_FOUND',
        'HOST_MISSING',
        'SAME_HOST',
        'NOT_RELEASED',
        'VOLUMES_STAY',
        'VOLUMES_AWAY',
        'WRONG_STATE',
      ] as const),
      ...(['HOST_NOT_APPROVED', 'HOST_CORDONED', 'HOST_UNFIT', 'HOST_LEFT', 'HOST_FULL', 'UNKNOWN_SOURCE'] as const),
      ...(['COMPOSE_REFUSED', 'HOST_NOT_ISOLATED', 'OPERATION_RUNNING', 'FIELD_IN_MANIFEST', 'QUEUE_FULL'] as const),
      'DOWNTIME_NOT_CONFIRMED' as const,
    ],
    handle: moveApp,
  },
  {
    tag: 'Hosts',
    // Its owner, or an administrator, who deploys nothing.
    scope: { kind: 'scope', scope: 'apps:manage' },
    method: 'POST',
    path: '/api/apps/hosts/:id/drain',
    summary: 'Drain a host',
    description:
      'It takes no new apps and sites (cordoned). Each app on it is asked to move to a host of the same class, owner and processor that has room, or to the one that is named; those that stay are listed with the reason: an app that keeps something moves only where hand_over.downtime is allow, else its owner moves it. Sites stay, and are listed. Asked again it tells what is left. PATCH {"cordoned": false} lets it take apps again.',
    body: closed(
      object('Where to.', {
        host_id: {
          ...text('The host that all go to; each to one that fits when left out.'),
          minLength: 1,
          maxLength: ID_MAX,
        },
      }),
    ),
    answers: {
      200: named('DrainedHost', { description: 'What was asked for.', schema: drained }),
      202: pendingOf('PendingDrain', 'It is cordoned; the verdict is still to come.', { host_id: text('The host.') }),
    },
    codes: ['NOT_FOUND'],
    handle: drainHost,
  },
]
