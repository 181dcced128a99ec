/** How what a process stands on (definitions, tables) compares with what its version was made for. */
export type VersionStanding = { state: 'same' } | { state: 'older' | 'newer'; detail: string }
