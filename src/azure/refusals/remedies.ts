/** What to do about a missing right, and about a request without an answer: a certificate that is refused, or nothing that listens. */
import { isRestError } from '@azure/core-rest-pipeline'
import { isLoopback } from '../../support/net/hosts.ts'
import { shellWord } from '../../support/text/text.ts'

/** @param scope as the shell takes it */
export const roleRemedy = (role: string, clientId: string | undefined, scope: string): string =>
  'assign the role, and allow a few minutes until it counts:\n' +
  `az role assignment create --assignee ${shellWord(clientId ?? '<clientId>')} --role "${role}" --scope ${scope}`

/**
 * Why a request to a URL got no answer, and the remedy.
 *
 * @param clean hides the secrets of the request in a text
 */
export function explainNoAnswer(error: unknown, url: string, clean: (text: string) => string) {
  const code = isRestError(error) ? error.code : undefined
  const said = error instanceof Error ? clean(error.message) || error.name : 'unknown'
  const reason = code !== undefined && !said.includes(code) ? `${code} ${said}` : said
  return { code, reason, fix: certificateRemedy(code, url) ?? silenceRemedy(code, url) }
}

/** Nothing of Azure itself is on this machine. */
const isHere = (url: string) => URL.canParse(url) && isLoopback(new URL(url).hostname)

/** What to do where nothing listens at an address of this machine; `undefined` for any other error. A retry may help. */
export function silenceRemedy(code: string | undefined, url: string): string | undefined {
  if (code !== 'ECONNREFUSED' || !isHere(url)) return undefined
  return `nothing listens at ${new URL(url).host}: start the emulator (eventgrid-binding emulate), or correct the address`
}

/**
 * What to do about an error with the certificate of the server at a URL, by Node's or OpenSSL's code; `undefined` for any
 * other error. A retry does not help.
 */
export function certificateRemedy(code: string | undefined = '', url = ''): string | undefined {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return "its certificate is out of date: renew it, unless this machine's clock is wrong"
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for another host: check the name in the endpoint'
  if (!/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(code)) return undefined
  if (isHere(url))
    return (
      'its certificate is not trusted: after a restart an emulator has a new certificate. Restart this process, or start emulate ' +
      'with --state FILE, which keeps the certificate; without --emulator set endpoints.ca or NODE_EXTRA_CA_CERTS to its authority'
    )
  return (
    'its certificate is not trusted: set endpoints.ca, or NODE_EXTRA_CA_CERTS (which Node reads at ' +
    'its start: restart this process), to the authority that issued it'
  )
}
