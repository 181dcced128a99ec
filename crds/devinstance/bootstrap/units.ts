/**
 * The systemd units of a dev instance: a timer for the reporter and one for the idle watcher, and a unit that stops first when the
 * machine does, whoever stops it, and says so. Nothing runs before a report token was handed over.
 * Source: rules/devinstance.md#units; systemd.exec(5), systemd.unit(5) (drop-ins of a prefix).
 */
import { DEV_USER, PREFIX } from './places.ts'

const unit = (description: string, sections: string): string => `[Unit]\nDescription=${description}\n${sections}`
const timer = (description: string, second: number): string =>
  unit(description, `[Timer]\nOnCalendar=*:*:${second}\nAccuracySec=5s\n[Install]\nWantedBy=timers.target\n`)

/** What holds for every unit of ours. */
const HARDENED = `[Unit]
ConditionPathExists=/etc/bottega/token
[Service]
UMask=0022
LockPersonality=yes
MemoryDenyWriteExecute=yes
NoNewPrivileges=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=read-only
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectSystem=strict
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
`

/**
 * As the user whose work is looked at: git runs what a repository tells it to. The journal says what the kernel ended. The token,
 * which is root's, comes in: of credentials systemd gives none to a command that stops a unit.
 */
const REPORTING = `User=${DEV_USER}
SupplementaryGroups=systemd-journal
CapabilityBoundingSet=
StandardInput=file:/etc/bottega/token
StateDirectory=bottega
RuntimeDirectory=bottega
RuntimeDirectoryPreserve=yes
# whose keys open it: what is there beside them stays
ReadWritePaths=-/home/${DEV_USER}/.ssh
Nice=10
`

/** By the names below /etc/systemd/system. */
export const UNITS: Readonly<Record<string, string>> = {
  'bottega-.service.d/hardened.conf': HARDENED,
  'bottega-report.service': unit(
    'Report how this machine is',
    `Wants=network-online.target
After=network-online.target
[Service]
Type=oneshot
TimeoutStartSec=5min
ExecStart=${PREFIX}/bin/report
${REPORTING}`,
  ),
  'bottega-report.timer': timer('Report once a minute', 0),
  'bottega-idle.service': unit(
    'Stop this machine when nobody uses it',
    `[Service]
Type=oneshot
TimeoutStartSec=1min
ExecStart=${PREFIX}/bin/idle
CapabilityBoundingSet=CAP_DAC_OVERRIDE
RuntimeDirectory=bottega-idle
RuntimeDirectoryPreserve=yes
ReadWritePaths=/run
`,
  ),
  'bottega-idle.timer': timer('Look once a minute whether anybody uses this machine', 30),
  // sshd -T wants a folder of its own, which is not there where a socket starts sshd and nobody has come yet
  'bottega-attest.service': unit(
    'Look whether this machine is as it was attested',
    // before it has ended what is to be attested is not there yet
    `After=cloud-final.service
[Service]
Type=oneshot
TimeoutStartSec=5min
RuntimeDirectory=bottega-attest sshd
RuntimeDirectoryPreserve=yes
ExecStart=/bin/sh -c '${PREFIX}/bin/attest > /run/bottega-attest/new && mv /run/bottega-attest/new /run/bottega-attest/said'
Nice=10
`,
  ),
  'bottega-attest.timer': unit(
    'Attest after the start, and once an hour',
    `[Timer]\nOnBootSec=30s\nOnUnitActiveSec=1h\n[Install]\nWantedBy=timers.target\n`,
  ),
  // what it comes after is there until it was stopped
  'bottega-stopping.service': unit(
    'Say that this machine stops',
    `After=network-online.target dbus.service systemd-resolved.service
Wants=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=${PREFIX}/bin/report stopping
TimeoutStopSec=1min
${REPORTING}[Install]
WantedBy=multi-user.target
`,
  ),
}

/** What finalize would find enabled. */
export const ENABLED = [
  'bottega-report.timer',
  'bottega-idle.timer',
  'bottega-attest.timer',
  'bottega-stopping.service',
  'docker-wanted.path',
]
