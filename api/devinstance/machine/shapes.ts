/** Shapes of what a dev instance is answered, and of what it lets in. */
import { POLICY } from '../../../crds/devinstance/schema.ts'
import { restSchema } from '../../../crds/kernel/rest.ts'
import { list, object, oneOf, text } from '../../openapi/schemas.ts'

export const authorizedKeys = object('Who may log in: keys of the owner, and of the teams where the policy says so.', {
  sha256: text('Of the lines as the machine has them, in hex.'),
  keys: list(
    'Each of them.',
    object('One.', {
      account: text('Whose.'),
      name: text('As its owner calls it.'),
      fingerprint: text('SHA256:…'),
    }),
  ),
  onMachine: {
    type: ['boolean', 'null'],
    description: 'Whether it has said that it lets in these and no others of ours; null: it has not spoken of it.',
  },
})

export const reportAnswer = object('What holds for the instance.', {
  policy: restSchema(POLICY, { names: 'camel' }),
  authorizedKeys: object('Who may log in; where the report says what it holds of that.', {
    sha256: text('Of the lines, in hex.'),
    file: text('The lines of authorized_keys in base64, where the instance holds others.'),
  }),
  environment: {
    ...object('Where the report speaks of it; null: there is none, or nowhere to bring it.', {
      version: text('Names it at this start of the machine.'),
      state: oneOf('sealed: here it is, once; held; fetched: it went to another key before; ready: send sealTo.', [
        'sealed',
        'held',
        'fetched',
        'ready',
      ]),
      sealed: object('Sealed by X25519, HKDF-SHA256 and AES-256-GCM, for this instance and version.', {
        key: text("The sender's public key, in base64url."),
        data: text('The sealed JSON with its tag, in base64.'),
      }),
    }),
    type: ['object', 'null'],
  },
})
