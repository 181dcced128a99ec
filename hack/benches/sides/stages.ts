import { makeReportAuth } from '../../../api/auth/report.ts'
import type { PipelineDeps } from '../../../api/http/pipeline.ts'
import { makeAudit } from '../../../api/http/stages/audit.ts'
import { makeIdempotency } from '../../../api/http/stages/idempotency.ts'
import { LIMIT_DEFAULTS, makeLimits } from '../../../api/http/stages/limits.ts'
import { makeWrongStage } from '../../../api/http/stages/wrong.ts'
import type { Keys } from '../../../controllers/base/keys.ts'
import { makeAppendAudit } from '../../../controllers/store/audit.ts'
import type { Pg } from '../../../controllers/store/pg/pg.ts'
import { makeKeyBook } from '../../../controllers/store/request/idempotency.ts'

export const BENCH_KEY = Buffer.alloc(32, 7)

/** More than any bench asks for. */
const RATE_MOST = 1_000_000_000

/** What the stages take beside who calls, as in the api, with a rate that nobody reaches. Nothing is answered 202. */
export const makeStageParts = ({ pg, keys }: { pg: Pg; keys: Keys }): Omit<PipelineDeps, 'authenticate'> => {
  const now = () => new Date()
  return {
    limits: makeLimits({ ...LIMIT_DEFAULTS, ratePerSecond: RATE_MOST, rateSpare: RATE_MOST }),
    limitWrong: makeWrongStage({ wrongPerMinute: RATE_MOST, isRemembered: () => true }),
    authenticateReport: makeReportAuth({ pg, keys }),
    keys,
    publicUrl: 'http://bench.test',
    idempotency: makeIdempotency({ book: makeKeyBook({ pg, now }), keys }),
    audit: makeAudit({ append: makeAppendAudit({ pg }) }),
    now,
    outcomeOf: async () => null,
  }
}
