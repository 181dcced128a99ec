/**
 * What is absent was not deleted (rules/platform.md#absence): where much of what was known is not there, the place is the
 * wrong one, or was lost, and nothing of it is forgotten. A few are taken for what was deleted while nobody looked
 * (hack/decisions/030).
 */

/** So many may be absent whatever their share. */
export const ABSENT_MAX = 20
/** Of what was known. */
export const ABSENT_SHARE = 0.1

export const isMass = (absent: number, known: number): boolean => absent > ABSENT_MAX && absent > known * ABSENT_SHARE
