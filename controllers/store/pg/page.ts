/** How every store that has more rows than one answer holds is asked for some of them. */

/** At most `limit` rows, after the first `offset`. */
export type Page = { limit: number; offset: number }
