/** The one list of kinds. */
import { ACCOUNT } from './account/kind.ts'
import { APP } from './app/kind.ts'
import { HOST } from './host/kind.ts'
import { INVOICE } from './invoice/kind.ts'
import type { Kind } from './kind.ts'

export const KINDS: readonly Kind[] = [ACCOUNT, APP, HOST, INVOICE]
