/** What the handlers of sites take. */
import type { LinkNeeds } from '../page/links.ts'
import type { Commanding, Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

export type SiteNeeds = Commanding &
  LinkNeeds &
  Pick<Deps, 'allowLoopback' | 'draftJudge' | 'egress' | 'llm' | 'pdfText' | 'publicUrl'> &
  Pick<
    Stores,
    | 'accounts'
    | 'allowance'
    | 'bases'
    | 'blobs'
    | 'certificates'
    | 'flood'
    | 'messages'
    | 'origins'
    | 'provenances'
    | 'reviews'
    | 'sites'
    | 'visits'
  >
