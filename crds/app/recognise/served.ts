/** The stage that serves a folder of files: nginx as nobody, without its own start scripts, on a port that needs no right. */

export const STATIC_PORT = 8_080
/** Of nginx in its official image. */
const USER = 101

const TYPES = 'text/css text/plain text/xml application/javascript application/json application/xml image/svg+xml'
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path /tmp/${name};`)

type Served = {
  /** A page of the app answers every path that is no file. */
  isOnePage: boolean
  /** A folder whose files have their digest in their name; null for none. */
  fixed: string | null
  /** What a path that leads nowhere is answered with; null for the server's own. */
  notFound: string | null
}

const configOf = ({ isOnePage, fixed, notFound }: Served): string[] => [
  'worker_processes 2;',
  'pid /tmp/nginx.pid;',
  'error_log stderr warn;',
  'events { worker_connections 512; }',
  'http {',
  '  include /etc/nginx/mime.types;',
  '  default_type application/octet-stream;',
  '  access_log off;',
  '  server_tokens off;',
  '  absolute_redirect off;',
  ...TEMPORARY.map((line) => `  ${line}`),
  `  gzip on; gzip_types ${TYPES};`,
  '  server {',
  `    listen ${STATIC_PORT};`,
  '    root /srv;',
  ...(notFound === null ? [] : [`    error_page 404 /${notFound};`]),
  '    location ~ /\\. { return 404; }',
  ...(fixed === null
    ? []
    : [
        `    location /${fixed}/ { try_files $uri =404; add_header Cache-Control "public, max-age=31536000, immutable"; }`,
      ]),
  `    location / { try_files $uri $uri.html $uri/ ${isOnePage ? '/index.html' : '=404'}; add_header Cache-Control "no-cache"; }`,
  '  }',
  '}',
]

/** @param copy how the files come to /srv, as COPY takes it */
export const servedStage = (copy: string, served: Served): string[] => [
  'FROM nginx:1-alpine',
  ...configOf(served).map((line, place, all) => {
    const quoted = `'${line}'`
    const head = place === 0 ? `RUN printf '%s\\n' ${quoted}` : `  ${quoted}`
    return place === all.length - 1 ? `${head} > /etc/nginx/served.conf` : `${head} \\`
  }),
  `COPY ${copy}`,
  `USER ${USER}:${USER}`,
  `EXPOSE ${STATIC_PORT}`,
  'ENTRYPOINT []',
  'CMD ["nginx", "-c", "/etc/nginx/served.conf", "-g", "daemon off;"]',
]
