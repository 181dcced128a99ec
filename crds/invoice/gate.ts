/** The delivery gate (spec/1 rule 1). */

/** `account`: the client signs in with an account of the service; `password`: link and password go by mail. */
export type Gate = 'account' | 'password'

/** A recipient whose address belongs to an account gets no password. */
export const gateOf = (world: { clientIsAccount: boolean }): Gate => (world.clientIsAccount ? 'account' : 'password')
