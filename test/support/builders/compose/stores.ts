import type { Shape } from './shape.ts'

const PASSWORD = 'secrets: { db-password: { file: db/password.txt } }'

/** A service with a database, a cache or a queue beside it. */
export const STORES: readonly Shape[] = [
  {
    name: 'aspnet-mssql',
    files: ['app/aspnetapp/Dockerfile', 'app/aspnetapp/Program.cs'],
    compose: `services:
  web:
    build: { context: app/aspnetapp, target: build }
    ports: ["80:80"]
  db:
    environment: { ACCEPT_EULA: "Y", SA_PASSWORD: example_123 }
    image: mcr.microsoft.com/azure-sql-edge:1.0.4
    restart: always
    healthcheck: { test: ["CMD-SHELL", "/opt/mssql-tools/bin/sqlcmd -S localhost -U sa -P example_123 -Q 'SELECT 1' || exit 1"], interval: 10s, retries: 10, start_period: 10s, timeout: 3s }
`,
    route: 'web:80',
  },
  {
    name: 'flask-redis',
    files: ['Dockerfile', 'app.py'],
    compose: `services:
  redis:
    image: redislabs/redismod
    ports: ["6379:6379"]
  web:
    build: { context: ., target: builder }
    stop_signal: SIGINT
    ports: ["8000:8000"]
    volumes: [".:/code"]
    depends_on: [redis]
`,
    route: 'web:8000',
  },
  {
    name: 'gitea-postgres',
    compose: `services:
  gitea:
    image: gitea/gitea:latest
    environment: [DB_TYPE=postgres, "DB_HOST=db:5432", DB_NAME=gitea, DB_USER=gitea, DB_PASSWD=gitea]
    restart: always
    volumes: ["git_data:/data"]
    ports: ["3000:3000"]
  db:
    image: postgres:alpine
    environment: [POSTGRES_USER=gitea, POSTGRES_PASSWORD=gitea, POSTGRES_DB=gitea]
    restart: always
    volumes: ["db_data:/var/lib/postgresql/data"]
    expose: [5432]
volumes: { db_data: null, git_data: null }
`,
    route: 'gitea:3000',
  },
  {
    name: 'nextcloud-postgres',
    compose: `services:
  db:
    image: postgres:alpine
    environment: [POSTGRES_PASSWORD=nextcloud, POSTGRES_DB=nextcloud, POSTGRES_USER=nextcloud]
    restart: always
    volumes: ["db_data:/var/lib/postgresql/data"]
    expose: [5432]
  nc:
    image: nextcloud:apache
    environment: [POSTGRES_HOST=db, POSTGRES_PASSWORD=nextcloud, POSTGRES_DB=nextcloud, POSTGRES_USER=nextcloud]
    ports: ["80:80"]
    restart: always
    volumes: ["nc_data:/var/www/html"]
    depends_on: [db]
volumes: { db_data: null, nc_data: null }
`,
    route: 'nc:80',
  },
  {
    name: 'nextcloud-redis-mariadb',
    compose: `services:
  nc:
    image: nextcloud:apache
    restart: always
    ports: ["80:80"]
    volumes: ["nc_data:/var/www/html"]
    networks: [redisnet, dbnet]
    environment: [REDIS_HOST=redis, MYSQL_HOST=db, MYSQL_DATABASE=nextcloud, MYSQL_USER=nextcloud, MYSQL_PASSWORD=nextcloud]
  redis:
    image: redis:alpine
    restart: always
    networks: [redisnet]
    expose: [6379]
  db:
    image: mariadb:10.5
    command: --transaction-isolation=READ-COMMITTED --binlog-format=ROW
    restart: always
    volumes: ["db_data:/var/lib/mysql"]
    networks: [dbnet]
    environment: [MYSQL_DATABASE=nextcloud, MYSQL_USER=nextcloud, MYSQL_ROOT_PASSWORD=nextcloud, MYSQL_PASSWORD=nextcloud]
    expose: [3306]
volumes: { db_data: null, nc_data: null }
networks: { dbnet: null, redisnet: null }
`,
    route: 'nc:80',
  },
  {
    name: 'postgresql-pgadmin',
    env: { POSTGRES_USER: 'u', POSTGRES_PW: 'p', POSTGRES_DB: 'd', PGADMIN_MAIL: 'a@b.test', PGADMIN_PW: 'q' },
    compose: `services:
  postgres:
    container_name: postgres
    image: postgres:latest
    environment: ["POSTGRES_USER=\${POSTGRES_USER}", "POSTGRES_PASSWORD=\${POSTGRES_PW}", "POSTGRES_DB=\${POSTGRES_DB}"]
    ports: ["5432:5432"]
    restart: always
  pgadmin:
    container_name: pgadmin
    image: dpage/pgadmin4:latest
    environment: ["PGADMIN_DEFAULT_EMAIL=\${PGADMIN_MAIL}", "PGADMIN_DEFAULT_PASSWORD=\${PGADMIN_PW}"]
    ports: ["5050:80"]
    restart: always
`,
    route: 'pgadmin:80',
  },
  {
    name: 'prometheus-grafana',
    files: ['prometheus/prometheus.yml', 'grafana/datasource.yml'],
    compose: `services:
  prometheus:
    image: prom/prometheus
    container_name: prometheus
    command: ["--config.file=/etc/prometheus/prometheus.yml"]
    ports: ["9090:9090"]
    restart: unless-stopped
    volumes: ["./prometheus:/etc/prometheus", "prom_data:/prometheus"]
  grafana:
    image: grafana/grafana
    container_name: grafana
    ports: ["3000:3000"]
    restart: unless-stopped
    environment: [GF_SECURITY_ADMIN_USER=admin, GF_SECURITY_ADMIN_PASSWORD=grafana]
    volumes: ["./grafana:/etc/grafana/provisioning/datasources"]
volumes: { prom_data: null }
`,
    route: 'grafana:3000',
  },
  {
    name: 'elasticsearch-logstash-kibana',
    files: ['logstash/nginx.log', 'logstash/pipeline/logstash-nginx.config'],
    compose: `services:
  elasticsearch:
    image: elasticsearch:7.16.1
    container_name: es
    environment: { discovery.type: single-node, ES_JAVA_OPTS: -Xms512m -Xmx512m }
    ports: ["9200:9200", "9300:9300"]
    healthcheck: { test: ["CMD-SHELL", "curl --silent --fail localhost:9200/_cluster/health || exit 1"], interval: 10s, timeout: 10s, retries: 3 }
    networks: [elastic]
  logstash:
    image: logstash:7.16.1
    container_name: log
    environment: { discovery.seed_hosts: logstash, LS_JAVA_OPTS: -Xms512m -Xmx512m }
    volumes: ["./logstash/pipeline/logstash-nginx.config:/usr/share/logstash/pipeline/logstash-nginx.config", "./logstash/nginx.log:/home/nginx.log"]
    ports: ["5000:5000/tcp", "5000:5000/udp", "5044:5044", "9600:9600"]
    depends_on: [elasticsearch]
    networks: [elastic]
    command: logstash -f /usr/share/logstash/pipeline/logstash-nginx.config
  kibana:
    image: kibana:7.16.1
    container_name: kib
    ports: ["5601:5601"]
    depends_on: [elasticsearch]
    networks: [elastic]
networks: { elastic: { driver: bridge } }
`,
    route: 'kibana:5601',
  },
  {
    name: 'sparkjava-mysql',
    files: ['backend/Dockerfile', 'backend/pom.xml', 'db/password.txt'],
    compose: `services:
  backend:
    build: backend
    ports: ["8080:8080"]
    secrets: [db-password]
    networks: [backnet]
    depends_on: { db: { condition: service_healthy } }
  db:
    environment: { MYSQL_DATABASE: example, MYSQL_ROOT_PASSWORD_FILE: /run/secrets/db-password }
    image: mariadb:10-focal
    healthcheck: { test: ["CMD-SHELL", "mysqladmin ping -h 127.0.0.1 --password=\\"$$(cat /run/secrets/db-password)\\" --silent"], interval: 3s, retries: 5, start_period: 30s }
    restart: always
    secrets: [db-password]
    volumes: ["db-data:/var/lib/mysql"]
    networks: [backnet]
volumes: { db-data: {} }
networks: { backnet: {} }
${PASSWORD}
`,
    route: 'backend:8080',
  },
  {
    name: 'spring-postgres',
    files: ['backend/Dockerfile', 'backend/pom.xml', 'db/password.txt'],
    compose: `services:
  backend:
    build: backend
    ports: ["8080:8080"]
    environment: [POSTGRES_DB=example]
    networks: [spring-postgres]
  db:
    image: postgres
    restart: always
    secrets: [db-password]
    volumes: ["db-data:/var/lib/postgresql/data"]
    networks: [spring-postgres]
    environment: [POSTGRES_DB=example, POSTGRES_PASSWORD_FILE=/run/secrets/db-password]
    expose: [5432]
volumes: { db-data: null }
${PASSWORD}
networks: { spring-postgres: null }
`,
    route: 'backend:8080',
  },
  {
    name: 'wordpress-mysql',
    compose: `services:
  db:
    image: mariadb:10.6.4-focal
    command: --default-authentication-plugin=mysql_native_password
    volumes: ["db_data:/var/lib/mysql"]
    restart: always
    environment: [MYSQL_ROOT_PASSWORD=somewordpress, MYSQL_DATABASE=wordpress, MYSQL_USER=wordpress, MYSQL_PASSWORD=wordpress]
    expose: [3306, 33060]
  wordpress:
    image: wordpress:latest
    ports: ["80:80"]
    restart: always
    environment: [WORDPRESS_DB_HOST=db, WORDPRESS_DB_USER=wordpress, WORDPRESS_DB_PASSWORD=wordpress, WORDPRESS_DB_NAME=wordpress]
volumes: { db_data: null }
`,
    route: 'wordpress:80',
  },
]
