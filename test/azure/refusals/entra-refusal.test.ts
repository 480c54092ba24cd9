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

function fail(
  error: unknown,
  exchanges: readonly Partial<Exchange>[],
  metadata: CredentialMetadata,
  hasEmulatorIds = false,
) {
  const context = { metadata, authorityHost: `https://${entra}`, hasEmulatorIds, show: (text: string) => `<${text}>` }
  return tokenFailure(
    error,
    exchanges.map((exchange) => ({ host: entra, ...exchange })),
    context,
  )
}

const said = (text: string) => JSON.stringify({ error: 'x', error_description: text })
const thrown = new Error('thrown')

describe('a token that may come later', () => {
  it.each<{
    name: string
    error?: unknown
    exchanges: readonly Partial<Exchange>[]
    metadata?: CredentialMetadata
    says: string
  }>([
    {
      name: "Entra's own fault",
      exchanges: [{ status: 400, body: said('AADSTS90033: x') }],
      says: 'it answered 400, AADSTS90033',
    },
    { name: 'an answer of 408', exchanges: [{ status: 408 }], says: 'it answered 408' },
    { name: 'an answer of 429', exchanges: [{ status: 429 }], says: 'it answered 429' },
    { name: 'an answer of 500', exchanges: [{ status: 500 }], says: 'it answered 500' },
    { name: 'an answer that holds no token', exchanges: [{ status: 399 }], says: 'it answered 399' },
    { name: 'no answer', exchanges: [{ code: 'ENOTFOUND' }], says: 'ENOTFOUND' },
    { name: 'no answer yet', exchanges: [{}], says: 'no answer' },
    { name: 'the last exchange', exchanges: [{ status: 400 }, { status: 503 }], says: 'it answered 503' },
    {
      name: 'no request, by an error of the network',
      error: new RestError('x', { code: 'ECONNRESET' }),
      exchanges: [],
      says: 'ECONNRESET',
    },
    {
      name: 'no request, by an answer',
      error: new RestError('x', { statusCode: 500 }),
      exchanges: [],
      says: 'no answer',
    },
    {
      name: "a host's connection",
      error: new Error('network_error: x'),
      exchanges: [],
      metadata: host,
      says: 'no answer',
    },
    { name: "a host's Entra", error: new Error('AADSTS90033: x'), exchanges: [], metadata: host, says: 'AADSTS90033' },
    {
      name: 'an identity endpoint that starts',
      exchanges: [{ status: 404 }],
      metadata: managed,
      says: 'it answered 404',
    },
    {
      name: 'an identity endpoint that starts again',
      exchanges: [{ status: 410 }],
      metadata: managed,
      says: 'it answered 410',
    },
    {
      name: 'the one of a chain that has trouble',
      exchanges: [{ status: 503 }, { code: 'ENOENT' }],
      metadata: chain,
      says: 'it answered 503',
    },
    {
      name: 'the one of a chain that starts',
      exchanges: [{ status: 404 }, { status: 400 }],
      metadata: chain,
      says: 'it answered 404',
    },
    {
      name: 'the one of a chain that broke off',
      exchanges: [{ code: 'ECONNRESET' }, { code: 'ECONNREFUSED' }],
      metadata: chain,
      says: 'ECONNRESET',
    },
    {
      name: 'the one of a chain that was late',
      exchanges: [{ code: 'ETIMEDOUT' }, { code: 'ECONNREFUSED' }],
      metadata: chain,
      says: 'ETIMEDOUT',
    },
    {
      name: 'the one of a chain that is under way',
      exchanges: [{}, { code: 'ECONNREFUSED' }],
      metadata: chain,
      says: 'no answer',
    },
  ])('after $name', ({ error = thrown, exchanges, metadata = secret, says }) => {
    const from = metadata === host ? "the host's credential" : `https://${entra}`
    expect(fail(error, exchanges, metadata)).toMatchObject({
      name: 'NoTokenError',
      message: `no token from ${from}: <${says}>`,
      fix: undefined,
    })
  })

  it('names who was asked, the pause, and the remedies that are known', () => {
    expect(fail(thrown, [{ host: '169.254.169.254', status: 429, retryAfterMs: 7 }], managed)).toMatchObject({
      ...{ message: 'no token from 169.254.169.254: <it answered 429>', retryAfterMs: 7 },
    })
    expect(fail(thrown, [{ host: '169.254.169.254', code: 'EHOSTUNREACH' }], managed).message).toMatch(
      /EHOSTUNREACH>; run where/,
    )
    const unasked = new RestError('x', { code: 'ENOENT' })
    expect(fail(unasked, [], managed).message).toMatch(/ENOENT>; run where/)
    expect(fail(thrown, [{ code: 'CERT_HAS_EXPIRED' }], secret)).toMatchObject({
      fix: expect.stringContaining('out of date'),
    })
    expect(fail(thrown, [{}], secret, true).message).toContain('; to use an emulator')
  })
})

describe('a token that is refused', () => {
  const fixOf = (code: string) => {
    const failure = fail(thrown, [{ status: 400, body: said(`${code}: x`) }], secret)
    return failure instanceof BindingError ? failure.fix : undefined
  }
  it.each([
    { code: 'AADSTS7000215', says: /^clientSecret is wrong.*--id c1 --append/ },
    { code: 'AADSTS7000222', says: /^clientSecret has expired.*--id c1 --append/ },
    { code: 'AADSTS700016', says: /^there is no such client/ },
    { code: 'AADSTS90002', says: /^there is no such tenant/ },
    { code: 'AADSTS900023', says: /^there is no such tenant/ },
    { code: 'AADSTS50034', says: /^check tenantId, clientId, clientSecret/ },
    { code: 'XAADSTS7000215', says: /^check tenantId, clientId, clientSecret/ },
    { code: 'AADSTS70002150000', says: /^check tenantId, clientId, clientSecret/ },
  ])('has a remedy by its code: $code', ({ code, says }) => {
    expect(fixOf(code)).toMatch(says)
  })

  it.each<{ metadata: CredentialMetadata; subject: string; fix: RegExp }>([
    { metadata: secret, subject: 'client c1 of tenant t1', fix: /^check tenantId/ },
    { metadata: managed, subject: 'azureCredential managedIdentity', fix: /^run where Azure gives/ },
    { metadata: { kind: 'managedIdentity', clientId: 'c1' }, subject: 'client c1', fix: /^run where Azure gives/ },
    {
      metadata: { kind: 'workloadIdentity', tenantId: 't1', clientId: undefined },
      subject: 'tenant t1',
      fix: /^check that the pod/,
    },
    { metadata: { kind: 'cli', tenantId: 't1' }, subject: 'tenant t1', fix: /^sign in with: az login --tenant t1$/ },
    { metadata: { kind: 'cli', tenantId: undefined }, subject: 'azureCredential cli', fix: /^sign in with: az login$/ },
    { metadata: chain, subject: 'azureCredential default', fix: /^give the process one/ },
    { metadata: host, subject: 'azureCredential host', fix: /^check the credential that the host/ },
  ])('names $subject', ({ metadata, subject, fix }) => {
    const failure = fail(thrown, [], metadata)
    expect(failure).toMatchObject({
      code: 'CREDENTIALS_REJECTED',
      details: {},
      what: `no token for ${subject}: <thrown>`,
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

  it('tells the code, and that the ids are those of an emulator', () => {
    const failure = fail(thrown, [{ status: 400, body: said('AADSTS700016: x') }], secret, true)
    expect(failure).toMatchObject({
      details: { entraCode: 'AADSTS700016', status: 400 },
      fix: expect.stringMatching(/^there is no such client.*; to use an emulator/),
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
