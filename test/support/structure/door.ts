/** One door to what is kept of resources: whoever looks says whose it must be. */
import { type Tree, withoutComments } from './tree.ts'

/** Who reads what is kept of resources, or the resources, without asking at the door whose they are; and why. */
export const UNASKED: Record<string, string> = {
  'api/command/own.ts': 'is the door',
  'api/command/wait.ts': 'is what the door guards',
  'api/main.ts': 'wires the door',
  'api/auth/auth.ts': 'finds out who asks',
  'api/auth/signin/session.ts': 'finds out who asks',
  'api/auth/report.ts': 'finds out who asks',
  'api/auth/signin/signin.ts': 'finds out who asks',
  'api/auth/signin/first-admin.ts': 'asks nothing for anybody',
  'api/command/make.ts': 'compares the account itself',
  'api/command/edit.ts': 'refuses what is foreign itself',
  'api/account/admin.ts': 'administrators see every account',
  'api/app/hosts.ts': 'who may use a host is a rule of its own (crds/app/plan.ts)',
  'api/host/change.ts': 'refuses what is foreign itself',
  'api/site/change.ts': 'refuses what is foreign itself',
  'api/page/links.ts': 'is asked about a row that was let in, and can only shut',
}
/** Who lets a row through whosever it is, and by which grounds. */
const GROUNDS: Record<string, readonly string[]> = {
  'api/auth/signin/signin.ts': ['itself'],
  'api/account/admin.ts': ['role'],
  'api/app/keeping/drain.ts': ['role'],
  'api/app/publishing/gate/gate.ts': ['link'],
  'api/devinstance/find.ts': ['shared'],
  'api/host/read.ts': ['role', 'shared'],
  'api/invoice/cards/card-webhook.ts': ['signed'],
  'api/invoice/page/show.ts': ['link'],
  'api/invoice/cards/rails.ts': ['itself'],
  'api/site/live/messages/found.ts': ['link'],
  'api/site/preview.ts': ['link'],
  'api/site/reviewing/review-page.ts': ['role'],
  'api/site/reviewing/queue.ts': ['role'],
  'api/site/reviewing/certificate.ts': ['role', 'link'],
  'api/site/reviewing/history.ts': ['role'],
  'api/site/reviewing/review.ts': ['role'],
}
const READS =
  /\bMirrorReader\b|\bmakeMirror\w*\(|\bmakeWaiter\(|\bjoinProfile\(|\b(?:from|join) mirror\b|\bkube\.(?:get|list)\b|\bisAlreadyExists\b/

/** The one place that compares two accounts. What is nobody's may be asked anywhere. */
const COMPARES = 'crds/kernel/fields.ts'
const COMPARED =
  /\b(?:account\s*[!=]==|owner\s*[!=]==(?!\s*'))\s*(?!null\b|undefined\b)[\w.'?]+|[!=]==\s*[\w.?]*\b(?:account|owner)\b/

/** Who decides by himself whose a thing is, in place of asking at the door (own.ts) or by its rule (belongsTo). */
export const comparedOwners = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!/^(?:api|controllers|crds)\//.test(path) || path === COMPARES) return []
    const found = COMPARED.exec(withoutComments(text))?.[0]
    return found === undefined ? [] : [`${path} compares ${found}`]
  })

export const unaskedReads = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!path.startsWith('api/')) return []
    const code = withoutComments(text)
    const read = UNASKED[path] === undefined ? READS.exec(code)?.[0] : undefined
    const grounds = [...code.matchAll(/\bbecause: '(\w+)'/g)].map(([, ground = '']) => ground)
    const others = grounds.filter((ground) => !GROUNDS[path]?.includes(ground))
    return [...(read === undefined ? [] : [read]), ...others].map((what) => `${path} looks by ${what}`)
  })
