/**
 * Projects as people begin them, each a folder as small as it can be: path to text. None of them knows anything of this platform.
 */
export type Starter = Readonly<Record<string, string | Buffer>>

const pg = 'postgres:18-alpine'

const database = (name: string) => `  db:
    image: ${pg}
    restart: always
    environment: { POSTGRES_USER: ${name}, POSTGRES_PASSWORD: secret, POSTGRES_DB: ${name} }
    volumes: ["pgdata:/var/lib/postgresql/data"]
    healthcheck: { test: ["CMD-SHELL", "pg_isready -U ${name}"], interval: 2s, timeout: 5s, retries: 30 }
volumes:
  pgdata:
`

/** As `django-admin startproject` makes it, with its database in the env and one view that counts what it is asked. */
export const django: Starter = {
  'docker-compose.yml': `services:
  web:
    image: python-django:slim
    working_dir: /app
    command: sh -c "python manage.py migrate --noinput && exec python -m gunicorn shop.wsgi --bind 0.0.0.0:8000"
    volumes: [".:/app"]
    ports: ["8000:8000"]
    environment: { DATABASE_HOST: db, DJANGO_SETTINGS_MODULE: shop.settings }
    depends_on: { db: { condition: service_healthy } }
${database('shop')}`,
  'manage.py': `import sys
from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
`,
  'shop/__init__.py': '',
  'shop/settings.py': `import os

SECRET_KEY = 'of-a-starter'
ALLOWED_HOSTS = ['*']
ROOT_URLCONF = 'shop.urls'
INSTALLED_APPS = ['django.contrib.contenttypes', 'django.contrib.auth', 'visits']
DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'
DATABASES = {
    'default': {
        'ENGINE': 'django.db.backends.postgresql',
        'NAME': 'shop',
        'USER': 'shop',
        'PASSWORD': 'secret',
        'HOST': os.environ['DATABASE_HOST'],
    }
}
`,
  'shop/urls.py': `from django.http import HttpResponse
from django.urls import path
from visits.models import Visit


def home(request):
    Visit.objects.create(page=request.path)
    return HttpResponse('Django, visit %d, secure %s' % (Visit.objects.count(), request.META.get('HTTP_X_FORWARDED_PROTO')))


urlpatterns = [path('', home)]
`,
  'shop/wsgi.py': `import os
from django.core.wsgi import get_wsgi_application

os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')
application = get_wsgi_application()
`,
  'visits/__init__.py': '',
  'visits/models.py': `from django.db import models


class Visit(models.Model):
    page = models.CharField(max_length=200)
`,
  'visits/migrations/__init__.py': '',
  'visits/migrations/0001_initial.py': `from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel('Visit', [
            ('id', models.BigAutoField(primary_key=True)),
            ('page', models.CharField(max_length=200)),
        ]),
    ]
`,
}

/** As Rails projects are laid out: a web process with its pid file, migrations once before it, a database, one image for both. */
/** @param vendored the package pg and what it needs, below node_modules */
export const rails = (vendored: Starter): Starter => ({
  ...vendored,
  'compose.yaml': `x-app: &app
  image: node:26-slim
  working_dir: /rails
  volumes: [".:/rails", "/rails/tmp"]
  environment: &env
    DATABASE_URL: postgres://rails:secret@db:5432/rails
    RAILS_ENV: production
services:
  web:
    <<: *app
    entrypoint: ["sh", "-c", "rm -f tmp/pids/server.pid && mkdir -p tmp/pids && exec node bin/server.mjs"]
    ports: ["3000:3000"]
    environment: { <<: *env, PORT: "3000" }
    depends_on:
      db: { condition: service_healthy }
      migrate: { condition: service_completed_successfully }
  migrate:
    <<: *app
    command: ["node", "bin/migrate.mjs"]
    depends_on: { db: { condition: service_healthy } }
${database('rails')}`,
  'bin/migrate.mjs': `import pg from 'pg'

const client = new pg.Client(process.env.DATABASE_URL)
await client.connect()
await client.query('create table if not exists schema_migrations (version text primary key)')
await client.query("insert into schema_migrations values ('20261101') on conflict do nothing")
await client.end()
`,
  'bin/server.mjs': `import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
writeFileSync('tmp/pids/server.pid', String(process.pid))
createServer(async (request, response) => {
  const { rows } = await pool.query('select version from schema_migrations').catch((error) => ({ rows: [error] }))
  response.end('Rails-like, migrated to ' + (rows[0].version ?? rows[0].message))
}).listen(Number(process.env.PORT), '0.0.0.0')
`,
})

/** Without a compose file. @param binary what \`go build\` made of its main.go, as a build of two stages would */
export const goApi = (binary: Buffer): Starter => ({
  'go.mod': GO_MOD,
  'main.go': GO_MAIN,
  Dockerfile: 'FROM scratch\nCOPY api /api\nUSER 65532:65532\nEXPOSE 8080\nENTRYPOINT ["/api"]\n',
  api: binary,
})

export const GO_MOD = 'module example.com/api\n\ngo 1.24\n'
export const GO_MAIN = `package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"says": "Go", "path": r.URL.Path})
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	http.ListenAndServe(":"+port, nil)
}
`

export const folder: Starter = {
  'docker-compose.yml': `services:
  site:
    image: busybox:1
    command: httpd -f -p 8080 -h /www
    volumes: ["./public:/www:ro"]
    ports: ["8080:8080"]
`,
  'public/index.html':
    '<!doctype html><title>A folder</title><link rel="stylesheet" href="style.css"><p>A folder of files</p>\n',
  'public/style.css': 'p { color: green }\n',
}

/** What npm and \`next build\` make a server of (\`output: 'standalone'\`). */
export const NEXT = {
  'package.json': `${JSON.stringify({ name: 'shop', private: true, scripts: { build: 'next build' }, dependencies: { next: '16', react: '19', 'react-dom': '19' } }, null, 2)}\n`,
  'next.config.mjs': "export default { output: 'standalone' }\n",
  'app/layout.js':
    'export default function Layout({ children }) {\n  return <html lang="en"><body>{children}</body></html>\n}\n',
  'app/page.js':
    "export const dynamic = 'force-dynamic'\n\nexport default function Page() {\n  return <p>Next.js says {process.env.GREETING}</p>\n}\n",
}

/** @param built the files of \`.next/standalone\`, with \`.next/static\` beside them */
export const next = (built: Starter): Starter => ({
  ...built,
  'compose.yaml': `services:
  web:
    image: node:26-slim
    working_dir: /app
    command: ["node", "server.js"]
    environment: { HOSTNAME: 0.0.0.0, PORT: "3000", GREETING: hello }
    volumes: [".:/app:ro"]
    ports: ["3000:3000"]
`,
})
