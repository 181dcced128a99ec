import type { Shape } from './shape.ts'

const wasm = (name: string, more: string, refused: readonly string[]): Shape => ({
  name,
  files: ['Dockerfile', 'frontend/Dockerfile', 'frontend/index.html'],
  compose: `services:
  frontend:
    image: nginx:alpine
    ports: ["8090:80"]
    volumes: ["./frontend:/usr/share/nginx/html"]
  server:
    image: demo-microservice
    build: .
    ports: ["8080:8080"]
    environment: { RUST_BACKTRACE: full }
    restart: unless-stopped
    runtime: io.containerd.wasmedge.v1
${more}`,
  refused,
})

/** Programs of WebAssembly, which need another runtime than a container's. */
export const WASM: readonly Shape[] = [
  wasm('wasmedge-mysql-nginx', '    platform: wasi/wasm32\n', [
    '/services/server/runtime',
    '/services/server/platform',
  ]),
  wasm('wasmedge-kafka-mysql', '    extra_hosts: ["kafka.test:10.0.0.9"]\n', [
    '/services/server/runtime',
    '/services/server/extra_hosts',
  ]),
]
