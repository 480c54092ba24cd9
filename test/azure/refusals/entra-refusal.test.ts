import { RestError } from '@azure/core-rest-pipeline'
import { describe, expect, it } from 'vitest'
import { type Exchange, tokenFailure } from '../../../src/azure/refusals/entra-refusal.ts'
import { BindingError } from '../../../src/core/errors.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { CredentialMetadata } from '../../../src/metadata/typed/metadata.ts'

const secret = { kind: 'clientSecret', tenantId: 't1', clientId: 'c1', clientSecret: new Secret('x') } as const
const managed = { kind: 'managedIdentity', clientId: undefined } as const
const chain = { kind: 'default', tenantId: undefined, clientId: undefined } as const
const host = { kind: 'host' } as const
const entra = 'login.microsoftonline.com'

type Exchanges = readonly Partial<Exchange>[]

function fail(error: unknown, asked: Exchanges, metadata: CredentialMetadata) {
  const context = { metadata, authorityHost: `https://${entra}`, show: (text: string) => `<${text}>` }
  const exchanges = asked.map((exchange) => ({ host: entra, ...exchange }))
  return tokenFailure(error, exchanges, context)
}

const said = (text: string) => JSON.stringify({ error: 'x', error_description: text })
const thrown = new Error('thrown')

describe('a token that may come later', () => {
  it.each<[name: string, asked: Exchanges, says: string, metadata?: CredentialMetadata, error?: unknown]>([
    ["Entra's own fault", [{ status: 400, body: said('AADSTS90033: x') }], 'it answered 400, AADSTS90033'],
    ['an answer of 408', [{ status: 408 }], 'it answered 408'],
    ['an answer of 429', [{ status: 429 }], 'it answered 429'],
    ['an answer of 500', [{ status: 500 }], 'it answered 500'],
    ['an answer that holds no token', [{ status: 399 }], 'it answered 399'],
    ['no answer', [{ code: 'ENOTFOUND' }], 'ENOTFOUND'],
    ['no answer yet', [{}], 'no answer'],
    ['the last exchange', [{ status: 400 }, { status: 503 }], 'it answered 503'],
    ['no request, by an error of the network', [], 'ECONNRESET', secret, new RestError('x', { code: 'ECONNRESET' })],
    ['no request, by an answer', [], 'no answer', secret, new RestError('x', { statusCode: 500 })],
    ["a host's connection", [], 'no answer', host, new Error('network_error: x')],
    ["a host's Entra", [], 'AADSTS90033', host, new Error('AADSTS90033: x')],
    ['an identity endpoint that starts', [{ status: 404 }], 'it answered 404', managed],
    ['an identity endpoint that starts again', [{ status: 410 }], 'it answered 410', managed],
    ['the one of a chain that has trouble', [{ status: 503 }, { code: 'ENOENT' }], 'it answered 503', chain],
    ['the one of a chain that starts', [{ status: 404 }, { status: 400 }], 'it answered 404', chain],
    ['the one of a chain that broke off', [{ code: 'ECONNRESET' }, { code: 'ECONNREFUSED' }], 'ECONNRESET', chain],
    ['the one of a chain that was late', [{ code: 'ETIMEDOUT' }, { code: 'ECONNREFUSED' }], 'ETIMEDOUT', chain],
    ['the one of a chain that is under way', [{}, { code: 'ECONNREFUSED' }], 'no answer', chain],
  ])('after %s', (_name, asked, says, metadata = secret, error = thrown) => {
    const from = metadata === host ? "the host's credential" : `https://${entra}`
    const message = `no token from ${from}: <${says}>`
    expect(fail(error, asked, metadata)).toMatchObject({ name: 'NoTokenError', message, fix: undefined })
  })

  it('names who was asked, the pause, and the remedies that are known', () => {
    const imds = { host: '169.254.169.254' }
    expect(fail(thrown, [{ ...imds, status: 429, retryAfterMs: 7 }], managed)).toMatchObject({
      ...{ message: 'no token from 169.254.169.254: <it answered 429>', retryAfterMs: 7 },
    })
    expect(fail(thrown, [{ ...imds, code: 'EHOSTUNREACH' }], managed).message).toMatch(/EHOSTUNREACH>; run where/)
    expect(fail(new RestError('x', { code: 'ENOENT' }), [], managed).message).toMatch(/ENOENT>; run where/)
    const { fix } = fail(thrown, [{ code: 'CERT_HAS_EXPIRED' }], secret)
    expect(fix).toContain('out of date')
  })
})

describe('a token that is refused', () => {
  it.each([
    {
      code: 'AADSTS7000215',
      says: /^clientSecret is wrong.* credential reset --id c1 --append --query password --output tsv$/,
    },
    { code: 'AADSTS7000215', clientId: 'x;reboot', says: /--id 'x;reboot' --append/ },
    { code: 'AADSTS7000222', says: /^clientSecret has expired.*--id c1 --append/ },
    { code: 'AADSTS700016', says: /^there is no such client/ },
    { code: 'AADSTS90002', says: /^there is no such tenant/ },
    { code: 'AADSTS900023', says: /^there is no such tenant/ },
    { code: 'AADSTS50034', says: /^check tenantId, clientId, clientSecret/ },
    { code: 'XAADSTS7000215', says: /^check tenantId, clientId, clientSecret/ },
    { code: 'AADSTS70002150000', says: /^check tenantId, clientId, clientSecret/ },
  ])('has a remedy by its code: $code', ({ code, clientId = 'c1', says }) => {
    const { fix } = fail(thrown, [{ status: 400, body: said(`${code}: x`) }], { ...secret, clientId })
    expect(fix).toMatch(says)
  })

  it.each<[subject: string, metadata: CredentialMetadata, fix: RegExp]>([
    ['client c1 of tenant t1', secret, /^check tenantId/],
    ['azureCredential managedIdentity', managed, /^run where Azure gives/],
    ['client c1', { kind: 'managedIdentity', clientId: 'c1' }, /^run where Azure gives/],
    ['tenant t1', { kind: 'workloadIdentity', tenantId: 't1', clientId: undefined }, /^check that the pod/],
    ['tenant t1', { kind: 'cli', tenantId: 't1' }, /^sign in with: az login --tenant t1$/],
    ['azureCredential cli', { kind: 'cli', tenantId: undefined }, /^sign in with: az login$/],
    ['azureCredential default', chain, /^give the process one/],
    ['azureCredential host', host, /^check the credential that the host/],
  ])('names %s', (subject, metadata, fix) => {
    expect(fail(thrown, [], metadata)).toMatchObject({
      ...{ code: 'CREDENTIALS_REJECTED', details: {}, what: `no token for ${subject}: <thrown>` },
      fix: expect.stringMatching(fix),
    })
  })

  it.each<{ name: string; error?: unknown; body?: string | undefined; says: string }>([
    { name: 'its description', body: said('AADSTS1234: no\r\nTrace ID: x'), says: 'AADSTS1234: no' },
    { name: 'its description, up to the trace', body: said('no Trace ID: x'), says: 'no' },
    { name: 'its description, on one line', body: said('no\nmore'), says: 'no' },
    { name: 'what was thrown, where the answer has no description', body: '{"error_description":7}', says: 'thrown' },
    { name: 'what was thrown, where the answer is no JSON', body: '<html>', says: 'thrown' },
    { name: 'what was thrown, where there is no body', body: '', says: 'thrown' },
    { name: 'that it is not known', error: 'text', says: 'an unknown error' },
  ])('says $name', ({ error = thrown, body, says }) => {
    const failure = fail(error, [{ status: 401, body }], secret)
    expect(failure).toMatchObject({ what: `no token for client c1 of tenant t1: <${says}>`, details: { status: 401 } })
  })

  it.each([
    { name: 'an answer', error: new RestError('x', { statusCode: 499 }) },
    { name: 'a word within another', error: new Error('network_errors') },
  ])('by $name out of our sight', ({ error }) => {
    expect(fail(error, [], host)).toMatchObject({ code: 'CREDENTIALS_REJECTED' })
  })

  it.each([404, 410])('by an Entra that answers %i, which is no identity endpoint', (status) => {
    expect(fail(thrown, [{ status }], secret)).toMatchObject({ code: 'CREDENTIALS_REJECTED', details: { status } })
  })

  it('tells the code', () => {
    const failure = fail(thrown, [{ status: 400, body: said('AADSTS700016: x') }], secret)
    expect(failure).toMatchObject({
      details: { entraCode: 'AADSTS700016', status: 400 },
      fix: expect.stringMatching(/^there is no such client/),
    })
  })

  it('for a reason that was told already stays as it is', () => {
    const error = new BindingError('METADATA_INVALID', { what: 'x' })
    expect(fail(error, [{ status: 503 }], secret)).toBe(error)
  })

  it('in a chain, where the others are expected not to answer', () => {
    const exchanges = [{ code: 'ECONNREFUSED' }, { status: 400 }]
    expect(fail(thrown, exchanges, chain)).toMatchObject({ code: 'CREDENTIALS_REJECTED', details: {} })
  })
})
