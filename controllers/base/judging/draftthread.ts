/** A thread that holds one draft after another against its sources (draft.ts). */
import { proveDraft } from '../../../crds/site/content/drafting/prove.ts'
import { serveThread } from '../threads/serve.ts'
import type { DraftJob } from './draft.ts'

serveThread(({ proposal, sources }: DraftJob) => proveDraft(proposal, sources))
