/** What an upload, and a release that is restored, may be refused with. */
import type { ProblemCode } from '../../../crds/kernel/problem.ts'

export const UPLOAD_CODES: readonly ProblemCode[] = [
  ...(['BAD_ARCHIVE', 'UNSAFE_PATH', 'ARCHIVE_TOO_LARGE', 'NO_COMPOSE_FILE', 'COMPOSE_REFUSED'] as const),
  ...(['UNKNOWN_SOURCE', 'GIT_FAILED'] as const),
]

/** From its images, or by a new build. */
export const RESTORE_CODES: readonly ProblemCode[] = [
  ...(['UNKNOWN_RELEASE', 'IMAGE_MISSING', 'UNKNOWN_SOURCE', 'COMPOSE_REFUSED', 'HOST_NOT_ISOLATED'] as const),
]
