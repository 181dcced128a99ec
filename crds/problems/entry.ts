/** What a code means: the HTTP status, a title, and the next step. */
export type ProblemEntry = { status: number; title: string; next: string }
