import type { DeployTarget } from '../../../../crds/app/compose/project.ts'
import { shared } from '../sources/upload.ts'

/** A project that is accepted, with the files that it needs. */
export type Sample = { sentence: string; files: Record<string, string>; deployTarget?: Partial<DeployTarget> }

const compose = (text: string, files: Record<string, string> = {}) => ({ 'docker-compose.yml': text, ...files })

export const deployTargetOf = ({ deployTarget = {} }: Pick<Sample, 'deployTarget'>): DeployTarget => ({
  ...shared,
  ...deployTarget,
})

/** Projects as people write them. */
export const SAMPLES: readonly Sample[] = [
  {
    sentence: 'one image with one port',
    files: compose('services: {web: {image: nginxinc/nginx-unprivileged:1.27, expose: [8080]}}\n'),
  },
  {
    sentence: 'a build with arguments, a target and a version from the env',
    files: compose(
      `version: "3.9"
name: site
services:
  web:
    build:
      context: ./web
      dockerfile: ../Dockerfile.web
      target: run
      args: { VERSION: "\${VERSION:-1.2}", EMPTY: "", FLAG: true, COUNT: 3 }
    ports: ["3000"]
    command: node server.js --name "a b" --price "$$5"
    init: true
`,
      { 'web/server.js': '1', 'Dockerfile.web': 'FROM scratch AS run' },
    ),
    deployTarget: { env: { VERSION: '2.0' } },
  },
  {
    sentence: 'web, worker, migration and a database',
    files: compose(
      `x-app: &app
  build: .
  environment: &env
    DATABASE_URL: postgres://app:\${DB_PASSWORD:?set it}@db/app
    LOG: \${LOG:-info}
  depends_on:
    db: { condition: service_healthy }
    migrate: { condition: service_completed_successfully }
services:
  web:
    <<: *app
    expose: ["8080"]
    environment: { <<: *env, ROLE: web }
    healthcheck:
      test: [CMD, /bin/busybox, wget, -q, -O, /dev/null, "http://127.0.0.1:8080/healthz"]
      interval: 1s
      timeout: 2500ms
      start_period: 1m30s
      retries: 5
    stop_grace_period: 20s
    stop_signal: SIGINT
  worker:
    <<: *app
    command: ["node", "worker.js"]
    tmpfs: ["/scratch:size=16m,mode=1777", /run]
    deploy: { resources: { limits: { cpus: "0.25", memory: 256M, pids: 64 } } }
  migrate:
    build: .
    command: ["node", "migrate.js"]
    environment: *env
    depends_on: { db: { condition: service_healthy } }
  db:
    image: postgres:16.4
    user: postgres
    shm_size: 64m
    environment: { POSTGRES_PASSWORD: "\${DB_PASSWORD}", POSTGRES_USER: app }
    volumes: ["data:/var/lib/postgresql/data", "./conf/pg.conf:/etc/postgresql.conf:ro"]
    healthcheck: { test: "pg_isready -U app", interval: 5s }
    x-bottega-env: false
volumes: { data: {} }
`,
      { Dockerfile: 'FROM scratch', 'conf/pg.conf': 'x', 'server.js': '1' },
    ),
    deployTarget: { env: { DB_PASSWORD: 'p$$w"o\'r{d}' } },
  },
  {
    sentence: 'a routed service that keeps its data',
    files: compose(
      `services:
  app:
    image: ghcr.io/acme/sqlite-app@sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1
    ports: [{ target: 8080, protocol: tcp, mode: ingress }]
    volumes: [{ type: volume, source: db, target: /data, volume: { nocopy: true } }, { type: bind, source: ./seed, target: /seed, read_only: true }]
    read_only: true
    restart: always
    networks: [front]
  cache:
    image: valkey/valkey:8.0.1
    user: valkey
    networks: { front: { aliases: [redis] } }
volumes: { db: null }
networks: { front: { driver: bridge } }
`,
      { 'seed/a.sql': '1', 'seed/b/c.sql': '2' },
    ),
  },
  {
    sentence: 'front and back networks, the back one closed',
    files: compose(
      `services:
  web: { image: "acme/web:1", expose: ["80"], networks: [front, back] }
  api: { image: "acme/api:1", networks: [back], depends_on: [store], hostname: api, working_dir: /srv, tty: true, stdin_open: true }
  store: { image: "acme/store:1", networks: { back: { aliases: [db, kv] } }, volumes: ["kv:/kv"], ulimits: { nofile: { soft: 1024, hard: 2048 } } }
networks: { front: {}, back: { internal: true } }
volumes: { kv: { driver: local } }
`,
    ),
    deployTarget: { route: { service: 'web', port: 80 } },
  },
  {
    sentence: 'env files, list form and values of every sort',
    files: compose(
      `services:
  web:
    image: acme/web:1
    expose: ["8080/tcp"]
    env_file: [base.env, { path: more.env, required: true }, { path: none.env, required: false }]
    environment:
      - PLAIN=1
      - EMPTY=
      - WITH=a=b=c
      - FROM_APP
      - NOT_SET
      - "JSON={\\"a\\": [1, \\"$$x\\"]}"
      - "UNICODE=grüße 你好 \\U0001F600"
      - "LINES=a\\nb\\tc"
      - NESTED=\${NOPE:-\${ALSO:-deep}}
      - SET=\${FROM_APP:+yes}\${NOPE:+no}
      - DOLLARS=$$$$
`,
      {
        'base.env':
          '# comment\nA=1\nexport B = "two words" # tail\nC=\'single $x\'\nD="dq \\$x \\n $A"\nE=un quoted # c\nF=a#b\n',
        'more.env': `A=2\nG=\${A}x\nH="multi\nline"\nI: yaml\nFROM_APP=file\nK=\nL=\${NOPE:-d e}\nM="\\"q\\" \\t \\\\"\n`,
      },
    ),
    deployTarget: { env: { FROM_APP: 'ap$p' } },
  },
]
