import { codeOf } from '../support/error-code.ts'
import { addressKind } from './address-kind.ts'
import type { CheckId } from './check-ids.ts'
import { failed, ok, warning } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { Route } from './world.ts'

export interface DnsOptions {
  readonly id: CheckId
  readonly field: 'subscriberEndpoint' | 'topicEndpoint'
  readonly url: URL
  /** The https URL of an emulator used in place of Azure. Names are not looked up then. */
  readonly emulator?: string | undefined
  route(): Promise<Route>
}

export function dnsCheck({ id, field, url, emulator, route }: DnsOptions): Check {
  const host = url.hostname
  const isEndpoint = field === 'subscriberEndpoint'
  return {
    id,
    needs: ['files/metadata', 'files/secrets', 'files/names'],
    async run() {
      let found: Route
      try {
        found = await route()
      } catch (error) {
        return failed(`${host} does not resolve (${codeOf(error) ?? 'no answer'})`, {
          remedy: emulator
            ? `run check with --emulator ${emulator}: the emulator answers for public names`
            : `check the name in ${field}, or make its DNS record:\ndig +short ${host}`,
        })
      }
      const addresses = found.targets.map(({ address }) => address)
      const shown = addresses.join(', ') === host.replace(/^\[|\]$/g, '') ? host : `${host} (${addresses.join(', ')})`
      if (found.byEmulator) return warning(`the emulator answers for ${host}: Azure would ask the public name`)
      const kinds = new Set(addresses.map(addressKind))
      if (kinds.has('loopback'))
        return warning(`${shown} is on this machine${isEndpoint ? ', which Azure does not reach' : ''}`)
      if (kinds.has('private') && isEndpoint) {
        return warning(`${shown}, a private address that Event Grid does not reach`, {
          remedy: `${field} needs a public address; if ${host} has another one outside of this network, all is well`,
        })
      }
      return ok(shown)
    },
  }
}
