/** Refusals of dev instances (rules/devinstance.md#refusals). */
import type { ProblemEntry } from './entry.ts'

export const DEVINSTANCE_PROBLEMS = {
  INSTANCE_LIVE: {
    status: 409,
    title: 'A cloud instance is attached and not confirmed gone',
    next: 'Take it down in the cloud, confirm it by POST …/terminated, then delete.',
  },
  RESIZE_REQUIRED: {
    status: 409,
    title: 'The repository needs a larger instance',
    next: 'Resize it as the proposal says, then assign the repository again.',
  },
  CAP_EXCEEDED: {
    status: 409,
    title: 'The committed monthly cost would exceed the cap',
    next: 'Take a smaller size, end an instance, or ask an admin for a larger cap.',
  },
  REGION_NOT_PRICED: {
    status: 422,
    title: 'The region has no reviewed prices',
    next: 'Take one of the regions named, or have the prices of this one reviewed and added first.',
  },
  TYPE_NOT_PRICED: {
    status: 422,
    title: 'The instance type has no reviewed price in this region',
    next: 'Take the type of the size class, or have the price of this one reviewed and added first.',
  },
  COSTS_TOO_MANY: {
    status: 422,
    title: 'There are too many instances for one answer',
    next: 'Ask for fewer months, or as an admin for one owner.',
  },
  VERSION_CONFLICT: {
    status: 409,
    title: 'The instance has changed since it was read',
    next: 'Read it again and repeat the request with its present version.',
  },
  WRONG_STATE: {
    status: 409,
    title: 'The state of the instance does not allow this',
    next: 'Take one of the actions named in allowedActions.',
  },
  RESIZE_PENDING: {
    status: 409,
    title: 'A resize is under way',
    next: 'Confirm it by POST …/resized, with the new size or the old one.',
  },
  NO_RESIZE_INTENT: {
    status: 409,
    title: 'No resize was announced, or another one was',
    next: 'Announce it by POST …/resizing, then confirm exactly that.',
  },
  LEASE_EXPIRED: {
    status: 409,
    title: 'The provisioning lease has run out',
    next: 'Report the same instance id by POST …/provisioning once more, or confirm it terminated.',
  },
  INSTANCE_MISMATCH: {
    status: 409,
    title: 'Another instance id is attached',
    next: 'Take down the instance that should not exist, and report the one that is attached.',
  },
  ADDRESS_PAIR_REQUIRED: {
    status: 400,
    title: 'publicIp and eipAllocId go together',
    next: 'Send both, or neither when an address is stored.',
  },
  ADDRESS_MISMATCH: {
    status: 409,
    title: 'The allocation is not one that the instance holds',
    next: 'Name an allocation that the instance holds, exactly.',
  },
  ADDRESS_IN_USE: {
    status: 409,
    title: 'The address is held by another instance',
    next: 'Release it there first, or allocate another one.',
  },
  ASSERTION_FAILED: {
    status: 422,
    title: 'The instance is not as it must be',
    next: 'Correct what errors[] names on the instance, and finalize again.',
  },
  PROFILE_STALE: {
    status: 409,
    title: 'The scanner profile is not fresh',
    next: 'Scan the repository at the assigned commit again.',
  },
  DISK_SHRINK: { status: 400, title: 'A disk cannot shrink', next: 'Ask for at least the present size.' },
  ARCH_CHANGE: {
    status: 400,
    title: 'The architecture never changes in place',
    next: 'Reserve another instance, and move the code by git.',
  },
  BOOTSTRAP_TOO_LARGE: {
    status: 413,
    title: 'The user data does not fit, not even compressed',
    next: 'Choose fewer agents, or a shorter repository address.',
  },
  BAD_SSH_KEY: {
    status: 400,
    title: 'This is no public key that logs in',
    next: 'Send the one line of a .pub file, as ssh-keygen writes it: ed25519, ecdsa, RSA of 2,048 bits or more, or a hardware key.',
  },
  SSH_KEY_KNOWN: {
    status: 409,
    title: 'The account has this public key already',
    next: 'Use it as it is; remove it first to give it another name.',
  },
  SSH_KEY_LIMIT: {
    status: 409,
    title: 'The account has as many public keys as it may',
    next: 'Remove one that is not used any more.',
  },
  WORK_AT_RISK: {
    status: 409,
    title: 'There is work on the instance that was not pushed',
    next: 'Push it, or repeat the request with acknowledgeWorkAtRisk: true.',
  },
} as const satisfies Record<string, ProblemEntry>
