/**
 * How long a test waits says nothing about what it waits for: what it gives is ample on a quiet machine, and the same machine
 * may have eight times as much to do. Only who waits in vain waits longer; what has to be quick is measured (hack/bench).
 */
const PATIENCE = 4

/** @param givenMs that are ample on a quiet machine @returns ms after which what is waited for will not come */
export const patience = (givenMs: number): number => givenMs * PATIENCE
