import { expect, it } from 'vitest'
import { certificateRemedy, silenceRemedy } from '../../src/azure/refusals/remedies.ts'

it.each([
  { code: 'CERT_HAS_EXPIRED', says: /out of date/ },
  { code: 'CERT_NOT_YET_VALID', says: /clock/ },
  { code: 'ERR_TLS_CERT_ALTNAME_INVALID', says: /another host/ },
  { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', says: /not trusted/ },
  { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', says: /not trusted/ },
  { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', says: /not trusted/ },
])('says what to do about $code', ({ code, says }) =>
  expect(certificateRemedy(code, 'https://management.azure.com')).toMatch(says),
)

it.each([undefined, 'ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EPROTO'])('has nothing to say of %s', (code) =>
  expect(certificateRemedy(code, 'https://127.0.0.1:4430')).toBe(undefined),
)

it('says of an emulator that it has a new certificate after a restart', () =>
  expect(certificateRemedy('SELF_SIGNED_CERT_IN_CHAIN', 'https://127.0.0.1:4430')).toMatch(
    /after a restart.*Restart this process.*--state FILE/,
  ))

it('has general advice for a certificate of which it does not know where it is', () =>
  expect(certificateRemedy('DEPTH_ZERO_SELF_SIGNED_CERT')).toMatch(
    /^its certificate is not trusted: set endpoints\.ca/,
  ))

it.each([
  { code: 'ECONNREFUSED', url: 'https://127.0.0.1:4430/x', says: /^nothing listens at 127\.0\.0\.1:4430: start/ },
  { code: 'ECONNREFUSED', url: 'http://localhost:80', says: /^nothing listens at localhost: start/ },
  { code: 'ECONNREFUSED', url: 'https://management.azure.com', says: undefined },
  { code: 'ECONNREFUSED', url: 'localhost', says: undefined },
  { code: 'ETIMEDOUT', url: 'https://127.0.0.1:4430', says: undefined },
  { code: undefined, url: 'https://127.0.0.1:4430', says: undefined },
])('says of $code at $url: $says', ({ code, url, says }) =>
  expect(silenceRemedy(code, url)).toEqual(says && expect.stringMatching(says)),
)
