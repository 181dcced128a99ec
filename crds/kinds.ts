/** The one list of kinds. */
import { ACCOUNT } from './account/kind.ts'
import { APP } from './app/kind.ts'
import { DEVINSTANCE } from './devinstance/kind.ts'
import { HOST } from './host/kind.ts'
import { INVOICE } from './invoice/kind.ts'
import type { Kind } from './kernel/kind.ts'
import { SITE } from './site/kind.ts'

export const KINDS: readonly Kind[] = [ACCOUNT, INVOICE, HOST, SITE, APP, DEVINSTANCE]
