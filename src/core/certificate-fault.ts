/**
 * What to do about an error that is about the certificate of whoever was asked, by its code, Node's or OpenSSL's (pure). `undefined`: it is about
 * something else. Asking again mends none of them.
 */
export function certificateRemedy(code: string | undefined = ''): string | undefined {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return "its certificate is out of date: it has to be renewed, unless this machine's clock is wrong"
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for another host: check the name in the endpoint'
  if (/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(code))
    return 'its certificate is not trusted: set endpoints.ca, or NODE_EXTRA_CA_CERTS (which Node reads at its start: start this process anew), to the authority that issued it'
  return undefined
}
