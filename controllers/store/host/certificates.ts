/** What names would ask of the CA of a host, as the api tells before anything is done (sql/functions/certificate_use.sql). */
import { type CaLimit, type CertificateUse, caLimitOf, certificateNames } from '../../../crds/host/calimits.ts'
import type { Pg } from '../pg/pg.ts'

export type CertificateReader = {
  /** How the names stand under the limit of the host's CA; nothing is taken. @param now by the platform's clock */
  use(host: string, hostnames: readonly string[], now: Date): Promise<CaLimit & { uses: CertificateUse[] }>
}

type ShownProxy = { acme?: { directory: string }; certificates_per_week?: number }

const PROXY = "select view -> 'proxy' as proxy from mirror where kind = 'Host' and name = $1"
const USE =
  'select root, fresh, used, iso_ms(free_at) as "freeAt" from certificate_use($1, $2, $3, $4, $5) order by root'

export const makeCertificateReader = ({ pg }: { pg: Pg }): CertificateReader => ({
  async use(host, hostnames, now) {
    const [seen] = (await pg.query<{ proxy: ShownProxy }>('host_proxy', PROXY, [host])).rows
    const { acme, certificates_per_week: certificatesPerWeek } = seen?.proxy ?? {}
    const limit = caLimitOf({
      ...(acme && { acme }),
      ...(certificatesPerWeek !== undefined && { certificatesPerWeek }),
    })
    const names = JSON.stringify(certificateNames(hostnames))
    const values = [host, limit.ca, names, limit.perWeek, now]
    return { ...limit, uses: (await pg.query<CertificateUse>('certificate_use', USE, values)).rows }
  },
})
