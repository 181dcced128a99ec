/**
 * Docker inside a dev instance, where its repository needs it: systemd waits for a compose file, a Dockerfile or a development
 * container in the work tree, and then installs what the distribution has. The code comes by a push, after the machine was made, so
 * the bootstrap cannot know. Source: rules/devinstance.md#docker-inside; systemd.path(5).
 */
import { DEV_USER } from './places.ts'

const REPO = `/home/${DEV_USER}/repo`
/** As Compose and the specification of development containers look for them. */
const WANTED = ['compose.y*ml', 'docker-compose*.y*ml', 'Dockerfile*', '.devcontainer/*', '.devcontainer.json']

export const dockerPath = (): string => `[Unit]
Description=Whether the repository needs Docker
ConditionPathExists=!/usr/bin/docker
[Path]
${WANTED.map((each) => `PathExistsGlob=${REPO}/${each}\n`).join('')}Unit=docker-wanted.service
[Install]
WantedBy=multi-user.target
`

/** It stays active, or it would be begun again as long as the file is there. */
export const dockerService = (script: string): string => `[Unit]
Description=Docker for the repository
Wants=network-online.target
After=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
Restart=on-failure
RestartSec=1min
ExecStart=${script}
`

/** Ports that a container publishes are reached through SSH, not from the world: sshd alone listens there. */
export const DOCKER_SETTINGS = { ip: '127.0.0.1', 'log-driver': 'local', 'live-restore': true }

/** Installs Docker with Compose 2, which Debian and Ubuntu call differently. */
export const dockerScript = (): string => `#!/bin/sh
set -eu
export DEBIAN_FRONTEND=noninteractive
compose=docker-compose
if apt-cache show docker-compose-v2 > /dev/null 2>&1; then compose=docker-compose-v2; fi
apt-get -qy -o DPkg::Lock::Timeout=600 install docker.io docker-buildx $compose
usermod -aG docker ${DEV_USER}
`
