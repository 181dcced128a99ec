/** Who works on a dev instance, and where all that is installed lies. */

/** The one account that people and agents work as. */
export const DEV_USER = 'dev'

/** Owned by root, so that no agent can update itself. */
export const PREFIX = '/opt/bottega'
/** Where an image says that it was baked: the digest over all that was installed in it. */
export const BAKED = '/etc/bottega/baked'
