/**
 * What to do about an error with a server's certificate, by Node's or OpenSSL's code; `undefined` for any other error.
 * A retry does not help.
 */
export function certificateRemedy(code: string | undefined = ''): string | undefined {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return "its certificate is out of date: renew it, unless this machine's clock is wrong"
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for another host: check the name in the endpoint'
  if (/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(code))
    return (
      'its certificate is not trusted: set endpoints.ca, or NODE_EXTRA_CA_CERTS (which Node reads at ' +
      'its start: start this process anew), to the authority that issued it'
    )
  return undefined
}
