/**
 * How what a process stands on (definitions, tables) compares with what its version was made for. `partial`: some of it is
 * missing, and what is there fits.
 */
export type VersionStanding = { state: 'same' } | { state: 'older' | 'newer' | 'partial'; detail: string }
