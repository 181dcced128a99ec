/** One door for each package, and one way out to addresses that a user chose. */
import { importsOf, ours, packageOf, type Tree, withoutComments } from './tree.ts'

/** A package that is not listed has no door yet. */
const DOORS: Record<string, RegExp> = {
  '@aws-sdk/client-ec2': /^api\/client\/devbox\/cloud\/ec2\/(driver|read)\.ts$/,
  '@kubernetes/client-node': /^controllers\/kube\/(auth|kube|watch)\.ts$/,
  undici: /^controllers\/(kube\/(auth|transport|stream)|net\/(egress|reach))\.ts$/,
  pg: /^controllers\/store\/pg\/(pg|client)\.ts$/,
  pino: /^controllers\/base\/log\.ts$/,
  'prom-client': /^controllers\/ops\/metrics\.ts$/,
  ssh2: /^(controllers\/io\/hosts\/ssh|api\/io\/sshkey)\.ts$/,
  pdfkit: /^controllers\/io\/pdf\/pdf\.ts$/,
  fontkit: /^controllers\/io\/pdf\/fonts\.ts$/,
  'bidi-js': /^controllers\/io\/pdf\/scripts\.ts$/,
  linebreak: /^controllers\/io\/pdf\/scripts\.ts$/,
  nodemailer: /^controllers\/io\/mail\.ts$/,
  jose: /^api\/auth\/signin\/session\.ts$/,
  'openid-client': /^api\/auth\/signin\/oidc\.ts$/,
  'rate-limiter-flexible': /^api\/http\/stages\/counters\.ts$/,
  ajv: /^api\/http\/(validate|reading\/checks\/\w{1,20})\.ts$/,
  yaml: /^crds\/app\/compose\/reading\/parse\.ts$/,
  express: /^api\/http\//,
  culori: /^crds\/site\/content\/brand\/brand\.ts$/,
  'tar-stream': /^(controllers\/io\/hosts\/tar|api\/io\/archive|api\/client\/cli\/project\/pack)\.ts$/,
  ignore: /^api\/client\/cli\/project\/ignored\.ts$/,
  '@balena/dockerignore': /^api\/client\/cli\/project\/ignored\.ts$/,
  isbot: /^crds\/site\/publishing\/visits\/robots\.ts$/,
  diff: /^crds\/text\/difference\.ts$/,
  tldts: /^crds\/values\/domain\.ts$/,
  stripe: /^(controllers\/io\/cards|api\/io\/cardevents)\.ts$/,
  sharp: /^controllers\/io\/pictures\/images\.ts$/,
  'subset-font': /^controllers\/io\/pictures\/hanthread\.ts$/,
  qr: /^crds\/text\/qr\.ts$/,
  unpdf: /^api\/io\/pdfworker\.ts$/,
}

export const otherDoors = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!/^(crds|controllers|api)\//.test(path)) return []
    const packages = importsOf(path, text).filter((target) => !ours(target) && !/^(node:|\/)/.test(target))
    return packages
      .filter((target) => !DOORS[packageOf(target)]?.test(path))
      .map((target) => `${path} imports ${target}`)
  })

/** Who opens connections by himself, and why what he opens needs no guard. Packages that do have doors of their own. */
export const WAYS_OUT: Record<string, string> = {
  'controllers/net/egress.ts': 'is the guard',
  'controllers/net/reach.ts': 'is the guard: its sockets',
  'controllers/kube/auth.ts': 'the API server, as the kubeconfig of the installation names it',
  'api/io/llm.ts': 'the model that the installation names',
  'controllers/io/hosts/caddy.ts': 'over a channel of an SSH connection that was judged (host.ts)',
  'controllers/io/hosts/tls/served.ts': 'over a channel of an SSH connection that was judged (host.ts)',
  'controllers/io/hosts/tls/certificates.ts': 'over a channel of an SSH connection that was judged (host.ts)',
  'api/http/smoke.ts': 'asks the installation itself',
  'api/client/devbox/cloud/docker/engine.ts': 'a socket of files, which the operator names',
  'api/client/cli/net/send.ts': 'runs with whoever calls, and asks the installation that he names',
}
const NETWORK = /^import \{([^}]*)\} from '(?:node:(?:http|https|http2|net|tls|dgram)|undici)'/gm
/** What the network's modules hold beside ways out. */
const HARMLESS = /^(|type .*|createServer|Server|isIP|isIPv[46])$/
const NETWORK_WHOLE =
  /^import (?:\w+|\* as \w+)(?:, \{[^}]*\})? from '(?:node:(?:http|https|http2|net|tls|dgram)|undici)'/m
/** A call, and neither a method nor the declaration of one. */
const FETCH = /(?<![.\w])fetch\((?!\w+\??: )|\bglobalThis\.fetch\b|\bnew (?:WebSocket|EventSource)\b/

export const otherWaysOut = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!/^(crds|controllers|api)\//.test(path) || WAYS_OUT[path] !== undefined) return []
    const names = [...text.matchAll(NETWORK)].flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
    const opens = names.filter((name) => !HARMLESS.test(name))
    if (NETWORK_WHOLE.test(text)) opens.push('a whole module of the network')
    if (FETCH.test(withoutComments(text))) opens.push('fetch')
    return opens.length > 0 ? [`${path} uses ${opens.join(', ')}`] : []
  })
