/** The delivery gate (rules/invoice.md#delivery-gate). */

/** `account`: the client signs in with an account of the service; `password`: link and password go by mail. */
export type Gate = 'account' | 'password'

/** A recipient whose address belongs to an account gets no password. */
export const gateOf = (world: { clientIsAccount: boolean }): Gate => (world.clientIsAccount ? 'account' : 'password')

/** Parameter of the page's address under which the processor sends a client back who has paid. */
export const FROM_CHECKOUT = 'from_checkout'
