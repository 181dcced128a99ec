import { failingLine } from '../../../crds/app/lifecycle/logs/failing.ts'
import { toldReason } from '../../../crds/app/lifecycle/logs/reason.ts'
import { EXIT } from '../../../crds/app/start.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Outputs as the tools print them, and the line that a person would look for. */
const OUTPUTS: [string, string, string][] = [
  [
    'npm, a script that is not there',
    `npm error Missing script: "build"
npm error
npm error To see a list of scripts, run:
npm error   npm run
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-22T10_00_00_000Z-debug-0.log`,
    'npm error Missing script: "build"',
  ],
  [
    'an older npm, the same',
    `npm ERR! missing script: build
npm ERR!
npm ERR! A complete log of this run can be found in:
npm ERR!     /root/.npm/_logs/2021-01-01T00_00_00_000Z-debug.log`,
    'npm ERR! missing script: build',
  ],
  [
    'npm ci without a lockfile',
    `npm error code EUSAGE
npm error
npm error The \`npm ci\` command can only install with an existing package-lock.json or
npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or
npm error later to generate a package-lock.json file, then try again.
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log`,
    'npm error code EUSAGE',
  ],
  [
    'npm, a package that is not there',
    `npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/nonexistent-pkg-xyz - Not found
npm error 404
npm error 404  'nonexistent-pkg-xyz@^1.0.0' is not in this registry.
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log`,
    'npm error 404 Not Found - GET https://registry.npmjs.org/nonexistent-pkg-xyz - Not found',
  ],
  [
    'npm, peers that do not fit',
    `npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree
npm error
npm error While resolving: shop@1.0.0
npm error Found: react@19.0.0
npm error
npm error Could not resolve dependency:
npm error peer react@"^17.0.0" from old-widget@2.1.0
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log`,
    'npm error Could not resolve dependency:',
  ],
  [
    'pnpm, a lockfile that is behind',
    ` ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with <ROOT>/package.json

Note that in CI environments this setting is true by default. If you still need to run install in such cases, use "pnpm install --no-frozen-lockfile"`,
    'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with <ROOT>/package.json',
  ],
  [
    'node, a module that is not there',
    `node:internal/modules/cjs/loader:1404
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /app/server.js
    at Function._resolveFilename (node:internal/modules/cjs/loader:1401:15)
    at defaultResolveImpl (node:internal/modules/cjs/loader:1057:19) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/app/server.js' ]
}

Node.js v22.21.0`,
    "Error: Cannot find module 'express'",
  ],
  [
    'node, a port in use',
    `node:events:497
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::3000
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1887:8) {
  code: 'EADDRINUSE',
  errno: -98,
  syscall: 'listen',
  address: '::',
  port: 3000
}

Node.js v22.21.0`,
    'Error: listen EADDRINUSE: address already in use :::3000',
  ],
  [
    'node, no memory left',
    `<--- Last few GCs --->

[1:0x5f] 5012 ms: Mark-Compact 252.1 (258.5) -> 251.9 (258.5) MB

<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
----- Native stack trace -----

 1: 0xe36196 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]`,
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
  ],
  [
    'tsc',
    `> shop@1.0.0 build
> tsc -p .

src/cart.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.
src/cart.ts(20,3): error TS2304: Cannot find name 'total'.`,
    "src/cart.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  [
    'pip, no such version',
    `Collecting flask==99.0 (from -r requirements.txt (line 1))
ERROR: Could not find a version that satisfies the requirement flask==99.0 (from versions: 0.1, 3.1.2)
ERROR: No matching distribution found for flask==99.0

[notice] A new release of pip is available: 24.0 -> 25.3
[notice] To update, run: pip install --upgrade pip`,
    'ERROR: No matching distribution found for flask==99.0',
  ],
  [
    'python, a module that is not there',
    `Traceback (most recent call last):
  File "/app/main.py", line 1, in <module>
    from flask import Flask
ModuleNotFoundError: No module named 'flask'`,
    "ModuleNotFoundError: No module named 'flask'",
  ],
  [
    'django, a database that nobody can reach',
    `Traceback (most recent call last):
  File "/usr/local/lib/python3.13/site-packages/django/db/backends/base/base.py", line 279, in ensure_connection
    self.connect()
psycopg.OperationalError: connection failed: connection to server at "10.5.0.2", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/manage.py", line 22, in <module>
    main()
django.db.utils.OperationalError: connection failed: connection to server at "10.5.0.2", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?`,
    'django.db.utils.OperationalError: connection failed: connection to server at "10.5.0.2", port 5432 failed: Connection refused',
  ],
  [
    'a migration',
    `Operations to perform:
  Apply all migrations: shop
Running migrations:
Traceback (most recent call last):
  File "/app/manage.py", line 22, in <module>
    main()
django.db.utils.ProgrammingError: relation "shop_order" does not exist
LINE 1: ALTER TABLE "shop_order" ADD COLUMN "note" text`,
    'django.db.utils.ProgrammingError: relation "shop_order" does not exist',
  ],
  [
    'rails, a migration that is pending',
    `bin/rails aborted!
ActiveRecord::PendingMigrationError: Migrations are pending. To resolve this issue, run:
        bin/rails db:migrate
Tasks: TOP => db:schema:load
(See full trace by running task with --trace)`,
    'ActiveRecord::PendingMigrationError: Migrations are pending. To resolve this issue, run:',
  ],
  [
    'go build',
    `# example.com/api
./main.go:12:2: undefined: handlr
./main.go:19:14: cannot use port (variable of type int) as string value in argument to http.ListenAndServe`,
    './main.go:12:2: undefined: handlr',
  ],
  [
    'go, a module that asks for a newer go',
    `go: go.mod requires go >= 1.26 (running go 1.24.3; GOTOOLCHAIN=local)`,
    'go: go.mod requires go >= 1.26 (running go 1.24.3; GOTOOLCHAIN=local)',
  ],
  [
    'go, a panic',
    `2026/11/22 10:00:00 listening
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x6a1b2c]

goroutine 1 [running]:
main.main()
	/src/main.go:14 +0x1c
exit status 2`,
    'panic: runtime error: invalid memory address or nil pointer dereference',
  ],
  [
    'cargo',
    `   Compiling api v0.1.0 (/app)
error[E0425]: cannot find value \`prt\` in this scope
 --> src/main.rs:8:20
  |
8 |     listen(prt);
  |            ^^^ help: a local variable with a similar name exists: \`port\`

For more information about this error, try \`rustc --explain E0425\`.
error: could not compile \`api\` (bin "api") due to 1 previous error`,
    'error[E0425]: cannot find value `prt` in this scope',
  ],
  [
    'maven',
    `[INFO] -------------------------------------------------------------
[ERROR] COMPILATION ERROR :
[INFO] -------------------------------------------------------------
[ERROR] /app/src/main/java/shop/App.java:[14,9] cannot find symbol
  symbol:   variable prt
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile) on project shop: Compilation failure
[ERROR] -> [Help 1]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
[ERROR] Re-run Maven using the -X switch to enable full debug logging.`,
    '[ERROR] /app/src/main/java/shop/App.java:[14,9] cannot find symbol',
  ],
  [
    'a pull of what is not there',
    `9.99: Pulling from library/nginx
Error response from daemon: manifest for nginx:9.99 not found: manifest unknown: manifest unknown`,
    'Error response from daemon: manifest for nginx:9.99 not found: manifest unknown: manifest unknown',
  ],
  [
    'a pull that is denied',
    `Error response from daemon: pull access denied for shop/private, repository does not exist or may require 'docker login': denied: requested access to the resource is denied`,
    "Error response from daemon: pull access denied for shop/private, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
  ],
  [
    'a pull beyond the rate',
    `Error response from daemon: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit`,
    'Error response from daemon: toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit',
  ],
  [
    'an image for another machine',
    `Error response from daemon: no matching manifest for linux/arm64/v8 in the manifest list entries`,
    'Error response from daemon: no matching manifest for linux/arm64/v8 in the manifest list entries',
  ],
  [
    'a file that a Dockerfile copies and nobody sent',
    `web 2/3 COPY nothing /
web 2/3 failed: failed to calculate checksum of ref abc::def: "/nothing": not found
Dockerfile:2
--------------------
   1 |     FROM scratch
   2 | >>> COPY nothing /
--------------------
error: failed to solve: failed to compute cache key: failed to calculate checksum of ref abc::def: "/nothing": not found`,
    'web 2/3 failed: failed to calculate checksum of ref abc::def: "/nothing": not found',
  ],
  [
    'a program that is not in the image',
    `web 4/5 | /bin/sh: gulp: not found
web 4/5 failed: process "/bin/sh -c gulp" did not complete successfully: exit code: 127`,
    '/bin/sh: gulp: not found',
  ],
  [
    'a step that took too much memory',
    `web 3/5 | Building…
web 3/5 | Killed
web 3/5 failed: process "/bin/sh -c npm run build" did not complete successfully: exit code: 137
A step was ended: it took more memory than the app may use.`,
    'A step was ended: it took more memory than the app may use.',
  ],
  [
    'a step of which only the end is known',
    `web 3/5 RUN make
web 3/5 failed: process "/bin/sh -c make" did not complete successfully: exit code: 2`,
    'web 3/5 failed: process "/bin/sh -c make" did not complete successfully: exit code: 2',
  ],
  [
    'postgres, a password that is wrong',
    `web | 2026-11-22 10:00:00.123 UTC starting
db | 2026-11-22 10:00:01.000 UTC [33] FATAL:  password authentication failed for user "app"
db | 2026-11-22 10:00:01.000 UTC [33] DETAIL:  Connection matched file "pg_hba.conf" line 128`,
    '[33] FATAL:  password authentication failed for user "app"',
  ],
  [
    'nginx, a host that is not there',
    `web | /docker-entrypoint.sh: Configuration complete; ready for start up
web | 2026/11/22 10:00:00 [emerg] 1#1: host not found in upstream "api" in /etc/nginx/conf.d/default.conf:3
web | nginx: [emerg] host not found in upstream "api" in /etc/nginx/conf.d/default.conf:3`,
    'nginx: [emerg] host not found in upstream "api" in /etc/nginx/conf.d/default.conf:3',
  ],
  ['a program that says why in words of its own', 'web | starting\nweb | set SECRET_KEY first', 'set SECRET_KEY first'],
]

spec('the line of a log that tells why', (t) => {
  for (const [what, output, told] of OUTPUTS) {
    t(`is found: ${what}`, () => {
      assert.is(failingLine(output.split('\n'))?.text, told)
    })
  }

  t('is none where nothing was said', () => {
    assert.is(failingLine(['', '   ', '}', '    at main (x.js:1:1)']), null)
  })

  t('is bounded', () => {
    assert.is(failingLine([`Error: ${'x'.repeat(5_000)}`])?.text.length, 301)
  })

  t('stands in the reason of a build in place of its exit code, without what is ours to read', () => {
    const log = `web: bottega.local/shop/web:1
#7 [3/3] RUN npm run build
#7 0.512 npm error Missing script: "build"
#7 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 1
------
 > [3/3] RUN npm run build:
0.512 npm error Missing script: "build"
------
error: failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 1
bottega: reason exit code 1
`
    const told = toldReason('images', { state: 'exited', code: EXIT.buildFailed, log, cancelled: false }, 3)
    assert.equal(told, { code: 'BUILD_FAILED', detail: 'the build failed: npm error Missing script: "build"' })
  })

  t('stands behind what a build was refused', () => {
    const log = `web: bottega.local/shop/web:1
#7 [3/3] RUN npm ci
#7 0.512 npm error code ECONNRESET
#7 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
not on the list of this host: evil.example
bottega: reason not on the list of this host: evil.example
`
    const told = toldReason('images', { state: 'exited', code: EXIT.packageRefused, log, cancelled: false }, 3)
    const refused = 'the build failed, refused what it asked for: not on the list of this host: evil.example'
    assert.equal(told, { code: 'PACKAGE_REFUSED', detail: `${refused}: npm error code ECONNRESET` })
  })

  t('stands behind who exited, with which code', () => {
    const log = `web-r3-1  | 2026-11-22T10:00:00.1Z starting
web-r3-1  | 2026-11-22T10:00:00.2Z Error: Cannot find module 'express'
web-r3-1  | 2026-11-22T10:00:00.3Z     at node:internal/main:1:1

bottega: reason web-r3 exited with code 1
`
    const told = toldReason('start', { state: 'exited', code: EXIT.exited, log, cancelled: false }, 3)
    assert.is(told.detail, "a service exited: web exited with code 1: Error: Cannot find module 'express'")
  })

  t('is not what a service happened to say last that nobody heard', () => {
    const log = 'web-r3-1  | 2026-11-22T10:00:00.1Z GET / 200\n\nbottega: reason web-r3 on port 8080 answered \n'
    const told = toldReason('start', { state: 'exited', code: EXIT.noAnswer, log, cancelled: false }, 3)
    assert.is(told.detail, 'the routed service does not answer: web on port 8080 answered')
  })
})
