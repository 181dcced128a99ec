import type { Shape } from './shape.ts'

const PASSWORD = 'secrets: { db-password: { file: db/password.txt } }'
const BUILT = ['backend/Dockerfile', 'backend/main']

const MYSQL = (networks: string) => `  db:
    image: mariadb:10-focal
    command: '--default-authentication-plugin=mysql_native_password'
    restart: always
    healthcheck: { test: ["CMD-SHELL", 'mysqladmin ping -h 127.0.0.1 --password="$$(cat /run/secrets/db-password)" --silent'], interval: 3s, retries: 5, start_period: 30s }
    secrets: [db-password]
    volumes: ["db-data:/var/lib/mysql"]
    ${networks}
    environment: [MYSQL_DATABASE=example, MYSQL_ROOT_PASSWORD_FILE=/run/secrets/db-password]
    expose: [3306, 33060]
`

const POSTGRES = (networks: string) => `  db:
    image: postgres
    restart: always
    user: postgres
    secrets: [db-password]
    volumes: ["db-data:/var/lib/postgresql/data"]
    ${networks}
    environment: [POSTGRES_DB=example, POSTGRES_PASSWORD_FILE=/run/secrets/db-password]
    expose: [5432]
    healthcheck: { test: [CMD, pg_isready], interval: 10s, timeout: 5s, retries: 5 }
`

/** Front, back and database, on networks of their own as often as not. */
export const TIERS: readonly Shape[] = [
  {
    name: 'nginx-aspnet-mysql',
    files: [...BUILT, 'proxy/conf', 'db/password.txt'],
    compose: `services:
  backend:
    build: { context: backend, target: builder }
    restart: always
    secrets: [db-password]
    depends_on: { db: { condition: service_healthy } }
    environment: { ASPNETCORE_URLS: "http://+:8000" }
${MYSQL('')}  proxy:
    image: nginx
    volumes: [{ type: bind, source: ./proxy/conf, target: /etc/nginx/conf.d/default.conf, read_only: true }]
    ports: ["80:80"]
    depends_on: [backend]
volumes: { db-data: null }
${PASSWORD}
`,
    route: 'proxy:80',
  },
  {
    name: 'nginx-flask-mongo',
    files: ['flask/Dockerfile', 'flask/server.py', 'nginx/nginx.conf'],
    compose: `services:
  web:
    image: nginx
    volumes: ["./nginx/nginx.conf:/tmp/nginx.conf"]
    environment: { FLASK_SERVER_ADDR: "backend:9091" }
    command: /bin/bash -c "envsubst < /tmp/nginx.conf > /etc/nginx/conf.d/default.conf && nginx -g 'daemon off;'"
    ports: ["80:80"]
    depends_on: [backend]
  backend:
    build: { context: flask, target: builder }
    stop_signal: SIGINT
    environment: [FLASK_SERVER_PORT=9091]
    volumes: ["./flask:/src"]
    depends_on: [mongo]
  mongo:
    image: mongo
`,
    route: 'web:80',
  },
  {
    name: 'nginx-flask-mysql',
    files: [...BUILT, 'proxy/Dockerfile', 'proxy/conf', 'db/password.txt'],
    compose: `services:
${MYSQL('networks: [backnet]')}  backend:
    build: { context: backend, target: builder }
    restart: always
    secrets: [db-password]
    stop_signal: SIGINT
    ports: ["8000:8000"]
    networks: [backnet, frontnet]
    depends_on: { db: { condition: service_healthy } }
  proxy:
    build: proxy
    restart: always
    ports: ["80:80"]
    depends_on: [backend]
    networks: [frontnet]
volumes: { db-data: null }
${PASSWORD}
networks: { backnet: null, frontnet: null }
`,
    route: 'proxy:80',
  },
  {
    name: 'nginx-golang-mysql',
    files: [...BUILT, 'proxy/nginx.conf', 'db/password.txt'],
    compose: `services:
  backend:
    build: { context: backend, target: builder }
    secrets: [db-password]
    depends_on: { db: { condition: service_healthy } }
${MYSQL('')}  proxy:
    image: nginx
    volumes: [{ type: bind, source: ./proxy/nginx.conf, target: /etc/nginx/conf.d/default.conf, read_only: true }]
    ports: ["80:80"]
    depends_on: [backend]
volumes: { db-data: null }
${PASSWORD}
`,
    route: 'proxy:80',
  },
  {
    name: 'nginx-golang-postgres',
    files: [...BUILT, 'proxy/nginx.conf', 'db/password.txt'],
    compose: `services:
  backend:
    build: { context: backend, target: builder }
    secrets: [db-password]
    depends_on: { db: { condition: service_healthy } }
${POSTGRES('')}  proxy:
    image: nginx
    volumes: [{ type: bind, source: ./proxy/nginx.conf, target: /etc/nginx/conf.d/default.conf, read_only: true }]
    ports: ["80:80"]
    depends_on: [backend]
volumes: { db-data: null }
${PASSWORD}
`,
    route: 'proxy:80',
  },
  {
    name: 'nginx-nodejs-redis',
    files: ['web/Dockerfile', 'web/server.js', 'nginx/Dockerfile', 'nginx/nginx.conf'],
    compose: `services:
  redis: { image: "redislabs/redismod", ports: ["6379:6379"] }
  web1: { restart: on-failure, build: ./web, hostname: web1, ports: ["81:5000"] }
  web2: { restart: on-failure, build: ./web, hostname: web2, ports: ["82:5000"] }
  nginx: { build: ./nginx, ports: ["80:80"], depends_on: [web1, web2] }
`,
    route: 'nginx:80',
  },
  {
    name: 'nginx-wsgi-flask',
    files: ['nginx/Dockerfile', 'nginx/default.conf', 'flask/Dockerfile', 'flask/wsgi.py', 'flask/.env'],
    compose: `services:
  nginx-proxy:
    build: nginx
    restart: always
    volumes: ["./nginx/default.conf:/tmp/default.conf"]
    environment: ["FLASK_SERVER_ADDR=flask-app:8000"]
    ports: ["80:80"]
    depends_on: [flask-app]
    command: /bin/sh -c "envsubst < /tmp/default.conf > /etc/nginx/conf.d/default.conf && exec nginx -g 'daemon off;'"
  flask-app:
    build: flask
    restart: always
    ports: ["8000:8000"]
    healthcheck: { test: [CMD-SHELL, "curl --silent --fail localhost:8000/flask-health-check || exit 1"], interval: 10s, timeout: 10s, retries: 3 }
    command: gunicorn -w 3 -t 60 -b 0.0.0.0:8000 app:app
`,
    route: 'nginx-proxy:80',
  },
  {
    name: 'react-express-mongodb',
    files: ['frontend/Dockerfile', 'frontend/src/App.js', 'backend/Dockerfile', 'backend/server.js'],
    compose: `services:
  frontend:
    build: { context: frontend, target: development }
    ports: ["3000:3000"]
    stdin_open: true
    volumes: ["./frontend:/usr/src/app", "/usr/src/app/node_modules"]
    restart: always
    networks: [react-express]
    depends_on: [backend]
  backend:
    container_name: backend
    restart: always
    build: { context: backend, target: development }
    volumes: ["./backend:/usr/src/app", "/usr/src/app/node_modules"]
    depends_on: [mongo]
    networks: [express-mongo, react-express]
    expose: [3000]
  mongo:
    container_name: mongo
    restart: always
    image: mongo:4.2.0
    volumes: ["mongo_data:/data/db"]
    networks: [express-mongo]
    expose: [27017]
networks: { react-express: null, express-mongo: null }
volumes: { mongo_data: null }
`,
    route: 'frontend:3000',
  },
  {
    name: 'react-express-mysql',
    files: [
      ...['frontend/Dockerfile', 'frontend/src/App.js', 'backend/Dockerfile', 'backend/src/index.js'],
      ...['backend/package.json', 'db/password.txt'],
    ],
    compose: `services:
  backend:
    build: { args: [NODE_ENV=development], context: backend, target: development }
    command: npm run start-watch
    environment: [DATABASE_DB=example, DATABASE_USER=root, DATABASE_PASSWORD=/run/secrets/db-password, NODE_ENV=development]
    ports: ["80:80", "9229:9229", "9230:9230"]
    secrets: [db-password]
    volumes: ["./backend/src:/code/src:ro", "./backend/package.json:/code/package.json", "back-notused:/opt/app/node_modules"]
    networks: [public, private]
    depends_on: [db]
${MYSQL('networks: [private]')}  frontend:
    build: { context: frontend, target: development }
    ports: ["3000:3000"]
    volumes: ["./frontend/src:/code/src", "/code/node_modules"]
    networks: [public]
    depends_on: [backend]
networks: { public: null, private: null }
volumes: { back-notused: null, db-data: null }
${PASSWORD}
`,
    route: 'frontend:3000',
  },
  {
    name: 'react-java-mysql',
    files: ['frontend/Dockerfile', 'frontend/src/App.js', 'backend/Dockerfile', 'backend/pom.xml', 'db/password.txt'],
    compose: `services:
  backend:
    build: backend
    restart: always
    secrets: [db-password]
    environment: { MYSQL_HOST: db }
    networks: [react-spring, spring-mysql]
    depends_on: { db: { condition: service_healthy } }
${MYSQL('networks: [spring-mysql]')}  frontend:
    build: { context: frontend, target: development }
    ports: ["3000:3000"]
    volumes: ["./frontend/src:/code/src", "/project/node_modules"]
    networks: [react-spring]
    depends_on: [backend]
    expose: [3306, 33060]
volumes: { db-data: {} }
${PASSWORD}
networks: { react-spring: {}, spring-mysql: {} }
`,
    route: 'frontend:3000',
  },
  {
    name: 'react-rust-postgres',
    files: [
      'frontend/Dockerfile',
      'frontend/src/App.js',
      'backend/Dockerfile',
      'backend/src/main.rs',
      'db/password.txt',
    ],
    compose: `services:
  frontend:
    build: { context: frontend, target: development }
    networks: [client-side]
    ports: ["3000:3000"]
    volumes: ["./frontend/src:/code/src:ro"]
    depends_on: [backend]
  backend:
    build: { context: backend, target: builder }
    environment: [ADDRESS=0.0.0.0:8000, RUST_LOG=debug, PG_DBNAME=postgres, PG_HOST=db, PG_USER=postgres, PG_PASSWORD=mysecretpassword]
    networks: [client-side, server-side]
    ports: ["8000:8000"]
    volumes: ["./backend/src:/code/src", "backend-cache:/code/target"]
    depends_on: [db]
  db:
    image: postgres:12-alpine
    restart: always
    environment: [POSTGRES_PASSWORD=mysecretpassword]
    networks: [server-side]
    volumes: ["db-data:/var/lib/postgresql/data"]
networks: { client-side: {}, server-side: {} }
volumes: { backend-cache: {}, db-data: {} }
`,
    route: 'frontend:3000',
  },
]
