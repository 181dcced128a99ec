/** How much may be sent to draft a website from (rules/site.md#drafts). */

export const BRIEF_MIN_CHARS = 40
export const BRIEF_MAX_CHARS = 24_000
export const PHOTOS_MAX = 6
/** The model gets photos as they are: the api draws no pictures. */
export const PHOTO_MAX_BYTES = 5_000_000
export const FILES_MAX_BYTES = 10_000_000
/** Files and what a form writes between them. */
export const EXTRACT_MAX_BYTES = FILES_MAX_BYTES + 500_000
export const TEXT_MAX_CHARS = 60_000
