import type { Shape } from './shape.ts'

/** One service, mostly built from the upload. */
export const SINGLE: readonly Shape[] = [
  {
    name: 'angular',
    files: ['angular/Dockerfile', 'angular/src/main.ts'],
    compose: `services:
  web:
    build: { context: angular, target: builder }
    ports: [4200:4200]
    volumes: ["./angular:/project", "/project/node_modules"]
`,
    route: 'web:4200',
  },
  {
    name: 'apache-php',
    files: ['app/Dockerfile', 'app/index.php'],
    compose: `services:
  web:
    build: { context: app, target: builder }
    ports: ["80:80"]
    volumes: ["./app:/var/www/html/"]
`,
    route: 'web:80',
  },
  {
    name: 'django',
    files: ['app/Dockerfile', 'app/manage.py'],
    compose: `services:
  web:
    build: { context: app, target: builder }
    ports: ["8000:8000"]
`,
    route: 'web:8000',
  },
  {
    name: 'fastapi',
    files: ['Dockerfile', 'app/main.py'],
    compose: `services:
  api:
    build: { context: ., target: builder }
    container_name: fastapi-application
    environment: { PORT: 8000 }
    ports: ["8000:8000"]
    restart: "no"
`,
    route: 'api:8000',
  },
  {
    name: 'flask',
    files: ['app/Dockerfile', 'app/app.py'],
    compose: `services:
  web:
    build: { context: app, target: builder }
    stop_signal: SIGINT
    ports: ["8000:8000"]
`,
    route: 'web:8000',
  },
  {
    name: 'nginx-golang',
    files: ['backend/Dockerfile', 'backend/main.go', 'proxy/nginx.conf'],
    compose: `services:
  proxy:
    image: nginx
    volumes: [{ type: bind, source: ./proxy/nginx.conf, target: /etc/nginx/conf.d/default.conf, read_only: true }]
    ports: ["80:80"]
    depends_on: [backend]
  backend:
    build: { context: backend, target: builder }
`,
    route: 'proxy:80',
  },
  {
    name: 'react-nginx',
    files: ['Dockerfile', '.docker/nginx/conf.d/default.conf', 'src/index.js'],
    compose: `services:
  frontend:
    build: { context: ., dockerfile: Dockerfile }
    container_name: frontend
    ports: ["80:80"]
`,
    route: 'frontend:80',
  },
  {
    name: 'sparkjava',
    files: ['sparkjava/Dockerfile', 'sparkjava/pom.xml'],
    compose: `services:
  sparkjava:
    build: sparkjava
    ports: ["8080:8080"]
`,
    route: 'sparkjava:8080',
  },
  {
    name: 'vuejs',
    files: ['vuejs/Dockerfile', 'vuejs/src/main.js'],
    compose: `services:
  web:
    build: { context: vuejs, target: development }
    ports: ["80:8080"]
    volumes: ["./vuejs:/project", "/project/node_modules"]
`,
    route: 'web:8080',
  },
  {
    name: 'minecraft',
    compose: `services:
  minecraft:
    image: itzg/minecraft-server
    ports: ["25565:25565"]
    environment: { EULA: "TRUE" }
    deploy: { resources: { limits: { memory: 1.5G } } }
    volumes: ["~/minecraft_data:/data"]
`,
    refused: ['/services/minecraft/volumes/0', '/services', '/services/minecraft'],
  },
  {
    name: 'plex',
    env: { PLEX_MEDIA_PATH: '/srv/media' },
    compose: `services:
  plex:
    image: linuxserver/plex:latest
    container_name: plex
    network_mode: host
    environment: [PUID=1000, PGID=1000, VERSION=docker]
    volumes: ["\${PLEX_MEDIA_PATH}:/media"]
    restart: always
`,
    refused: ['/services/plex/network_mode', '/services/plex/volumes/0', '/services'],
  },
  {
    name: 'portainer',
    compose: `services:
  portainer:
    image: portainer/portainer-ce:alpine
    container_name: portainer
    command: -H unix:///var/run/docker.sock
    ports: ["9000:9000"]
    volumes: ["/var/run/docker.sock:/var/run/docker.sock", "portainer_data:/data"]
    restart: always
volumes: { portainer_data: {} }
`,
    refused: ['/services/portainer/volumes/0'],
  },
  {
    name: 'wireguard',
    compose: `services:
  wireguard:
    image: linuxserver/wireguard
    container_name: wireguard
    cap_add: [NET_ADMIN, SYS_MODULE]
    environment: [PUID=1000, PGID=1000, SERVERPORT=51820, PEERS=1]
    volumes: ["/usr/share/appdata/wireguard/config:/config", "/lib/modules:/lib/modules"]
    ports: ["51820:51820/udp"]
    sysctls: [net.ipv4.conf.all.src_valid_mark=1]
    restart: always
`,
    refused: [
      ...['cap_add', 'volumes/0', 'volumes/1', 'ports/0', 'sysctls'].map((key) => `/services/wireguard/${key}`),
      '/services',
    ],
  },
  {
    name: 'pihole-cloudflared-DoH',
    compose: `services:
  cloudflared:
    image: cloudflare/cloudflared:latest
    container_name: cloudflared
    command: proxy-dns
    environment: [TUNNEL_DNS_UPSTREAM=https://1.1.1.1/dns-query, TUNNEL_DNS_PORT=5053, TUNNEL_DNS_ADDRESS=0.0.0.0]
    restart: unless-stopped
    networks: { pihole_net: { ipv4_address: 10.0.0.2 } }
  pihole:
    image: pihole/pihole:latest
    container_name: pihole
    hostname: pihole
    ports: ["53:53/tcp", "53:53/udp", "67:67/udp", "80:80/tcp", "443:443/tcp"]
    environment: { TZ: Europe/Amsterdam, DNS1: "10.0.0.2#5053", DNS2: "no" }
    volumes: ["./etc-pihole:/etc/pihole", "./etc-dnsmasq.d:/etc/dnsmasq.d"]
    networks: { pihole_net: { ipv4_address: 10.0.0.3 } }
    dns: [10.0.0.2, 1.1.1.1]
    cap_add: [NET_ADMIN]
    restart: unless-stopped
networks:
  pihole_net: { driver: bridge, ipam: { config: [{ subnet: 10.0.0.0/29 }] } }
`,
    refused: [
      '/networks/pihole_net/ipam',
      '/services/cloudflared/networks/pihole_net/ipv4_address',
      '/services/pihole/ports/2',
      '/services/pihole/networks/pihole_net/ipv4_address',
      '/services/pihole/dns',
      '/services/pihole/cap_add',
    ],
  },
  {
    name: 'traefik-golang',
    files: ['backend/Dockerfile', 'backend/main.go'],
    compose: `services:
  frontend:
    image: traefik:2.6
    command: --providers.docker --entrypoints.web.address=:80 --providers.docker.exposedbydefault=false
    ports: ["80:80"]
    volumes: ["/var/run/docker.sock:/var/run/docker.sock"]
    depends_on: [backend]
  backend:
    build: { context: backend, target: builder }
    labels: ["traefik.enable=true", "traefik.http.routers.go.rule=Path(\`/\`)", "traefik.http.services.go.loadbalancer.server.port=80"]
`,
    refused: ['/services/frontend/volumes/0', '/services/backend/labels'],
  },
]
