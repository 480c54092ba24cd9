import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { inspect } from 'node:util'
import type { TokenCredential } from '@azure/core-auth'
import { ClientSecretCredential } from '@azure/identity'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCredential } from '../../src/azure/credential.ts'
import { Secret } from '../../src/core/secret.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import type { CredentialMetadata } from '../../src/metadata/typed/metadata.ts'
import { type Answer, type Asked, startScripted } from '../provision/scripted-arm.ts'
import { freePort } from '../support/free-port.ts'
import { useIdentityEndpoint } from '../support/identity-endpoint.ts'
import { quickenTime } from '../support/quick-time.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const environment = azureEnvironments.AzurePublicCloud
const metadata = {
  kind: 'clientSecret',
  tenantId: 'tenant-1',
  clientId: 'client-1',
  clientSecret: new Secret('secret-marked'),
} as const
const scope = 'https://management.azure.com/.default'

/** An Entra that answers a request for a token as told. */
async function startEntra(token: (asked: Asked) => Answer, discovery?: Answer) {
  const entra = await startScripted((asked) => {
    if (asked.method === 'POST') return token(asked)
    const base = `${entra.url}/tenant-1`
    const body = {
      issuer: `${base}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      jwks_uri: `${entra.url}/keys`,
    }
    return discovery ?? { status: 200, body }
  })
  return entra
}
const failure = async (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  )

/** A credential by client secret at an Entra that answers as told. */
async function openSecret(
  token: Parameters<typeof startEntra>[0],
  { discovery, ...options }: { discovery?: Answer; tokenTimeoutMs?: number } = {},
) {
  const entra = await startEntra(token, discovery)
  const endpoints = { authorityHost: entra.url, ca: entra.ca }
  const credential = createCredential(metadata, { environment, endpoints, ...options })
  return { entra, credential, refused: () => failure(credential.getToken(scope)) }
}

/** The host's own credential. */
const ofHost = (getToken: TokenCredential['getToken']) =>
  createCredential({ kind: 'host' }, { environment, endpoints: {}, hostCredential: { getToken } })

const refusal = (status: number, description: string) => ({
  status,
  body: { error: 'invalid_client', error_description: description, error_codes: [1] },
})

const granted: Answer = {
  status: 200,
  body: { token_type: 'Bearer', expires_in: 3599, access_token: 'token-marked' },
}

it('gets a token with the client secret from an authority host outside Azure', async () => {
  const { entra, credential } = await openSecret(() => granted)
  expect(await credential.getToken(scope)).toMatchObject({ token: 'token-marked' })
  const [asked] = entra.asked.filter(({ method }) => method === 'POST')
  expect(asked?.path).toBe('/tenant-1/oauth2/v2.0/token')
  expect(String(asked?.body)).toContain('client_secret=secret-marked')
  const seen = inspect(credential, { depth: Infinity, showHidden: true }) + JSON.stringify(credential)
  expect(seen).not.toMatch(/secret-marked|token-marked/)
})

const wrongSecret = 'AADSTS7000215: Invalid client secret provided: secret-marked.\r\nTrace ID: x'
const noTenant = refusal(400, "AADSTS90002: Tenant 'tenant-1' not found.")

it.each<[name: string, answer: Answer, discovery: Answer | undefined, entraCode: string, fix: string]>([
  ['a wrong secret', refusal(401, wrongSecret), undefined, 'AADSTS7000215', "the secret's value, not its id"],
  ['an unknown tenant', noTenant, noTenant, 'AADSTS90002', 'tenantId'],
])('says CREDENTIALS_REJECTED for %s, with the tenant, the client and what to do', async (...row) => {
  const [, answer, discovery, entraCode, fix] = row
  const { refused } = await openSecret(() => answer, { ...(discovery && { discovery }) })
  const error = await refused()
  expect(error).toMatchObject({
    code: 'CREDENTIALS_REJECTED',
    message: expect.stringContaining('client client-1 of tenant tenant-1'),
    fix: expect.stringContaining(fix),
    details: { entraCode },
  })
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/secret-marked|Trace ID/)
})

const transient = 'AADSTS90033: A transient error has occurred.'

it.each<[name: string, answer: Answer, says: string]>([
  ['a 503', { status: 503, text: '<html>' }, 'it answered 503'],
  ['a cut connection', 'cut', 'ECONNRESET'],
  ['an endless answer', { endless: 200 }, 'ANSWER_TOO_LONG'],
  ['an endless refusal', { endless: 401 }, 'ANSWER_TOO_LONG'],
  ['no answer', 'never', ''],
  ["somebody else's 200", { status: 200, text: '<html>sign in to the hotel</html>' }, 'it answered 200'],
])('leaves %s to be tried again, after one request', async (_name, answer, says) => {
  quickenTime()
  const { entra, refused } = await openSecret(() => answer, { tokenTimeoutMs: answer === 'never' ? 1_500 : 10_000 })
  const error = await refused()
  expect(error).toMatchObject({ name: 'NoTokenError', message: expect.stringContaining(says), fix: undefined })
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('secret-marked')
  expect(entra.asked.filter(({ method }) => method === 'POST')).toHaveLength(1)
  if (Object(answer).endless) await entra.disconnected()
})

it('tells how long Entra wants to be left alone, also when asked again meanwhile', async () => {
  const { refused } = await openSecret(() => ({ ...refusal(429, 'slow'), headers: { 'retry-after': '7' } }))
  expect(await refused()).toMatchObject({ name: 'NoTokenError', retryAfterMs: 7_000 })
  expect(await refused()).toMatchObject({ name: 'NoTokenError' })
})

it('says of an emulator that is down that it must be started, and leaves it to be tried again', async () => {
  const authorityHost = `https://127.0.0.1:${await freePort()}`
  const error = await failure(createCredential(metadata, { environment, endpoints: { authorityHost } }).getToken(scope))
  const says = expect.stringMatching(/ECONNREFUSED; nothing listens at 127\.0\.0\.1:\d+: start the emulator/)
  expect(error).toMatchObject({ name: 'NoTokenError', message: says, fix: undefined })
})

it('says what to do about a certificate that is not trusted', async () => {
  const entra = await startEntra(() => refusal(400, ''))
  const credential = createCredential(metadata, { environment, endpoints: { authorityHost: entra.url } })
  expect(await failure(credential.getToken(scope))).toMatchObject({
    name: 'NoTokenError',
    message: expect.stringContaining('UNABLE_TO_VERIFY'),
    fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  })
})

it.each([
  { name: 'ends the wait for a token when the signal aborts', reason: undefined, error: { name: 'AbortError' } },
  {
    name: 'names who did not answer where the time of the caller is over',
    reason: new DOMException('late', 'TimeoutError'),
    error: { name: 'NoTokenError', message: expect.stringContaining('127.0.0.1') },
  },
])('$name', async ({ reason, error }) => {
  const ending = new AbortController()
  const { credential } = await openSecret(() => {
    ending.abort(reason)
    return 'never'
  })
  expect(await failure(credential.getToken(scope, { abortSignal: ending.signal }))).toMatchObject(error)
})

it('ends the request for a token that nobody waits for any more', async () => {
  // The request's own time limit never comes.
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
  onTestFinished(() => void vi.restoreAllMocks())
  const asked = Promise.withResolvers<void>()
  const { entra, credential } = await openSecret(() => {
    asked.resolve()
    return 'never'
  })
  const caller = new AbortController()
  const refused = failure(credential.getToken(scope, { abortSignal: caller.signal }))
  await asked.promise
  caller.abort()
  await refused
  await entra.disconnected()
})

it("takes the host's credential", async () => {
  const theirs = ofHost(async () => ({ token: 'theirs', expiresOnTimestamp: 1 }))
  expect(await theirs.getToken(scope)).toMatchObject({ token: 'theirs' })
})

it.each([
  { name: 'gives none', getToken: async () => null, says: /the credential gave none; check the .* host handed over/ },
  {
    name: 'fails',
    getToken: () => Promise.reject(new Error('not signed in')),
    says: /not signed in.*option credential/,
  },
])("says so where the host's credential $name", async ({ getToken, says }) => {
  const message = expect.stringMatching(says)
  expect(await failure(ofHost(getToken).getToken(scope))).toMatchObject({ code: 'CREDENTIALS_REJECTED', message })
})

it.each([
  { name: 'Entra is busy', answer: refusal(503, transient), says: 'AADSTS90033' },
  { name: 'Entra cuts the connection', answer: 'cut' as const, says: 'no answer' },
])("leaves it to be tried again where $name for a host's credential", async ({ answer, says }) => {
  const entra = await startEntra(() => answer)
  const hostCredential = new ClientSecretCredential('tenant-1', 'client-1', 'secret-marked', {
    authorityHost: entra.url,
    disableInstanceDiscovery: true,
    retryOptions: { maxRetries: 0 },
    tlsOptions: { ca: entra.ca },
  })
  const credential = ofHost(hostCredential.getToken.bind(hostCredential))
  expect(await failure(credential.getToken(scope))).toMatchObject({
    name: 'NoTokenError',
    message: `no token from the host's credential: ${says}`,
  })
})

it.each([
  {
    ...{ name: 'an authority host without TLS', kind: metadata, endpoints: { authorityHost: 'http://localhost:1' } },
    field: 'endpoints.authorityHost',
  },
  {
    ...{ name: 'no authority host', kind: metadata, endpoints: { authorityHost: 'xhttps://localhost:1' } },
    field: 'endpoints.authorityHost',
  },
  { name: 'metadata without a credential', kind: undefined, endpoints: {}, field: 'azureCredential' },
  { name: "a host's credential that is missing", kind: { kind: 'host' } as const, endpoints: {}, field: 'credential' },
])('refuses $name', ({ kind, endpoints, field }) => {
  const issue = { field, rule: expect.any(String), fix: expect.any(String) }
  expect(() => createCredential(kind, { environment, endpoints })).toThrow(
    expect.objectContaining({ code: 'METADATA_INVALID', issues: [expect.objectContaining(issue)] }),
  )
})

it.each<{ kind: CredentialMetadata; isRefused: boolean }>([
  { kind: metadata, isRefused: true },
  { kind: { kind: 'default', tenantId: undefined, clientId: undefined }, isRefused: true },
  { kind: { kind: 'cli', tenantId: undefined }, isRefused: false },
  { kind: { kind: 'managedIdentity', clientId: undefined }, isRefused: false },
])('a proxy that cannot ask Entra matters to those who ask it: $kind.kind', ({ kind, isRefused }) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('HTTPS_PROXY', 'socks5://127.0.0.1:1080')
  const create = expect(() => createCredential(kind, { environment, endpoints: {} }))
  if (isRefused) create.toThrow(expect.objectContaining({ code: 'METADATA_INVALID' }))
  else create.not.toThrow()
})

it.each<{ kind: CredentialMetadata; fix: string }>([
  { kind: { ...metadata, tenantId: 'no tenant!' }, fix: 'check tenantId' },
  { kind: { kind: 'workloadIdentity', tenantId: 'tenant-1', clientId: undefined }, fix: 'workload identity' },
])('says CREDENTIALS_REJECTED at once where the library refuses to make $kind.kind', ({ kind, fix }) => {
  expect(() => createCredential(kind, { environment, endpoints: {} })).toThrow(
    expect.objectContaining({ code: 'CREDENTIALS_REJECTED', fix: expect.stringContaining(fix) }),
  )
})

describe('the identity that metadata name is asked for', () => {
  afterEach(() => void vi.unstubAllEnvs())

  const both = { tenantId: 'tenant-1', clientId: 'client-1' }
  it.each<{ kind: CredentialMetadata; variables?: Record<string, string> }>([
    { kind: { kind: 'workloadIdentity', ...both } },
    // A pod that has a workload identity has no other.
    { kind: { kind: 'managedIdentity', clientId: 'client-1' }, variables: { AZURE_TENANT_ID: 'tenant-1' } },
    { kind: { kind: 'default', ...both } },
  ])('with $kind.kind in a pod of workload identity, by tenant and client', async ({ kind, variables = {} }) => {
    const entra = await startEntra(() => granted)
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'an assertion')
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', file)
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    const endpoints = { authorityHost: `${entra.url}//`, ca: entra.ca }
    const credential = createCredential(kind, { environment, endpoints })
    expect(await credential.getToken(scope)).toMatchObject({ token: 'token-marked' })
    const [asked] = entra.asked.filter(({ method }) => method === 'POST')
    expect(asked?.path).toBe('/tenant-1/oauth2/v2.0/token')
    expect(String(asked?.body)).toContain('client_id=client-1')
  })

  it('with managedIdentity, by client, past a proxy of the environment', async () => {
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${await freePort()}`)
    // Alone it says nothing of workload identity.
    vi.stubEnv('AZURE_TENANT_ID', 'tenant-1')
    const asked: URL[] = []
    await useIdentityEndpoint((request, response) => {
      asked.push(new URL(request.url ?? '', 'http://localhost'))
      response.setHeader('content-type', 'application/json')
      const token = { access_token: 'token-marked', expires_on: '4070908800', token_type: 'Bearer' }
      response.end(JSON.stringify({ ...token, resource: 'https://management.azure.com', client_id: 'client-1' }))
    })
    const credential = createCredential(
      { kind: 'managedIdentity', clientId: 'client-1' },
      { environment, endpoints: {} },
    )
    expect(await credential.getToken(scope)).toMatchObject({ token: 'token-marked' })
    expect(asked.map(({ searchParams }) => searchParams.get('client_id'))).toEqual(['client-1'])
  })

  it('with cli, by tenant, by one process for fifty calls', async () => {
    const folder = temporaryFolder()
    const token = { accessToken: 'token-marked', expires_on: 4070908800, expiresOn: '2099-01-01 00:00:00', tenant: 't' }
    const script = `#!/bin/sh\necho "$@" >> ${join(folder, 'args')}\necho '${JSON.stringify(token)}'\n`
    writeFileSync(join(folder, 'az'), script)
    chmodSync(join(folder, 'az'), 0o755)
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
    const credential = createCredential({ kind: 'cli', tenantId: 'tenant-1' }, { environment, endpoints: {} })
    const calls = Array.from({ length: 50 }, () => credential.getToken(scope))
    for (const token of await Promise.all(calls)) expect(token).toMatchObject({ token: 'token-marked' })
    expect(readFileSync(join(folder, 'args'), 'utf8')).toMatch(/^.*--tenant tenant-1.*\n$/)
  })
})
