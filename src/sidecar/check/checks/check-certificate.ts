// Check `endpoint/certificate` and `topic/certificate`: TLS certificate of every address of a host.

import { judgeCertificate } from '../judge/judge-certificate.ts'
import { failed, joined, ok } from '../report/finding.ts'
import type { Check } from '../run-checks.ts'
import type { Route } from '../world/world.ts'

export interface CertificateCheckOptions extends Pick<Check, 'id' | 'needs'> {
  readonly url: URL
  readonly ca: string | undefined
  readonly byEmulator: boolean
  route(): Promise<Route>
}

export function certificateCheck({ id, needs, url, ca, byEmulator, route }: CertificateCheckOptions): Check {
  return {
    id,
    needs,
    async run(signal) {
      if (url.protocol === 'http:') return ok('plain http on this machine: there is no certificate')
      const { targets } = await route()
      const judged = await Promise.all(
        targets.map(async (target) => {
          const finding = await judgeCertificate({ hostname: url.hostname, target, ca, byEmulator, signal })
          if (!finding || targets.length === 1) return finding
          return { ...finding, detail: `${target.address}: ${finding.detail}` }
        }),
      )
      const seen = judged.filter((finding) => finding !== undefined)
      const remedy = 'check the network and firewalls between here and there'
      return seen.length > 0 ? joined(seen) : failed(`no connection to ${url.host}`, { remedy })
    },
  }
}
