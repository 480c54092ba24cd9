import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import type { TokenCredential } from '@azure/core-auth'
import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline'
import { ClientSecretCredential } from '@azure/identity'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCredential } from '../../src/azure/credential.ts'
import { createRefusedTokenPolicy } from '../../src/azure/refused-token.ts'
import { createTokenKeeper } from '../../src/azure/token-keeper.ts'
import { Secret } from '../../src/core/secret.ts'
import { azureEnvironments } from '../../src/metadata/fields/azure-environment.ts'
import type { CredentialMetadata } from '../../src/metadata/typed/metadata.ts'
import { type Answer, type Asked, startScripted } from '../provision/scripted-arm.ts'
import { freePort } from '../support/free-port.ts'
import { useIdentityEndpoint } from '../support/identity-endpoint.ts'
import { quickenTime } from '../support/quick-time.ts'

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
  { discovery, ...changes }: { discovery?: Answer; clientId?: string; tokenTimeoutMs?: number } = {},
) {
  const { clientId = 'client-1', ...options } = changes
  const entra = await startEntra(token, discovery)
  const endpoints = { authorityHost: entra.url, ca: entra.ca }
  const credential = createCredential({ ...metadata, clientId }, { environment, endpoints, ...options })
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
const reset = 'az ad app credential reset --id client-1 --append --query password --output tsv'

it.each<[name: string, answer: Answer, entraCode: string, fix: string]>([
  [
    'a wrong secret',
    refusal(401, wrongSecret),
    'AADSTS7000215',
    `the secret's value, not its id, or make one with: ${reset}`,
  ],
  [
    'an expired secret',
    refusal(401, 'AADSTS7000222: expired.'),
    'AADSTS7000222',
    `has expired: make one with: ${reset}`,
  ],
  ['an unknown client', refusal(400, 'AADSTS700016: Application not found.'), 'AADSTS700016', 'clientId'],
  ['an unknown tenant', refusal(400, "AADSTS90002: Tenant 'tenant-1' not found."), 'AADSTS90002', 'tenantId'],
])(
  'says CREDENTIALS_REJECTED for %s, with the tenant, the client and what to do',
  async (_, answer, entraCode, fix) => {
    const { refused } = await openSecret(() => answer, { ...(fix === 'tenantId' && { discovery: answer }) })
    const error = await refused()
    expect(error).toMatchObject({
      code: 'CREDENTIALS_REJECTED',
      message: expect.stringContaining('client client-1 of tenant tenant-1'),
      fix: expect.stringContaining(fix),
      details: { entraCode },
    })
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/secret-marked|Trace ID/)
  },
)

it('quotes a client id that a shell would not take as it is', async () => {
  const { refused } = await openSecret(() => refusal(401, wrongSecret), { clientId: 'x;reboot' })
  expect(await refused()).toMatchObject({ fix: expect.stringContaining("--id 'x;reboot'") })
})

const transient = 'AADSTS90033: A transient error has occurred.'

it.each<[name: string, answer: Answer, says: string]>([
  ['a 503', { status: 503, text: '<html>' }, 'it answered 503'],
  ['a 429', refusal(429, 'slow'), 'it answered 429'],
  ["Entra's own fault", refusal(400, transient), 'AADSTS90033'],
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

it('says so where the credential of the host gives no token', async () => {
  expect(await failure(ofHost(async () => null).getToken(scope))).toMatchObject({
    code: 'CREDENTIALS_REJECTED',
    message: expect.stringMatching(/the credential gave none; check the credential that the host handed over/),
  })
})

it('ends the wait for a token when the signal aborts', async () => {
  const ending = new AbortController()
  const { credential } = await openSecret(() => {
    ending.abort()
    return 'never'
  })
  const asking = credential.getToken(scope, { abortSignal: ending.signal })
  expect(await failure(asking)).toMatchObject({ name: 'AbortError' })
})

it('names who did not answer where the time of the caller is over', async () => {
  const ending = new AbortController()
  const { credential } = await openSecret(() => {
    ending.abort(new DOMException('late', 'TimeoutError'))
    return 'never'
  })
  const asking = credential.getToken(scope, { abortSignal: ending.signal })
  expect(await failure(asking)).toMatchObject({ name: 'NoTokenError', message: expect.stringContaining('127.0.0.1') })
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

it('lets nobody join a request for a token that was given up and has not ended yet', async () => {
  const requests: (AbortSignal | undefined)[] = []
  const host = createTokenKeeper((_scopes, { abortSignal }) => {
    if (abortSignal instanceof AbortSignal) requests.push(abortSignal)
    if (requests.length > 1) return Promise.resolve({ token: 'second', expiresOnTimestamp: Date.now() + 3_600_000 })
    return new Promise(() => {})
  })
  const caller = new AbortController()
  const first = failure(host.getToken(scope, { abortSignal: caller.signal }))
  const other = failure(host.getToken(scope, { abortSignal: caller.signal }))
  caller.abort()
  await Promise.race([first, other])
  expect(await host.getToken(scope)).toMatchObject({ token: 'second' })
  expect(requests).toHaveLength(2)
})

it('reads the rest of a refusal before the request goes again, or its connection would stay taken', async () => {
  const policy = createRefusedTokenPolicy(
    { getToken: async () => ({ token: 'new', expiresOnTimestamp: 0 }), renew: () => true },
    scope,
  )
  const request = createPipelineRequest({ url: 'https://topic.example.com' })
  request.headers.set('authorization', 'Bearer old')
  const unread = Readable.from([Buffer.from('refused')])
  const sent: (string | undefined)[] = []
  const answer = await policy.sendRequest(request, async (one) => {
    sent.push(one.headers.get('authorization'))
    if (sent.length > 1) {
      expect(unread.readableEnded).toBe(true)
      return { request: one, headers: createHttpHeaders(), status: 200 }
    }
    return { request: one, headers: createHttpHeaders(), status: 401, readableStreamBody: unread }
  })
  expect([answer.status, sent]).toEqual([200, ['Bearer old', 'Bearer new']])
})

it('asks anew for a token where the request before was given up', async () => {
  let asked = 0
  const credential = ofHost(async () => {
    if (asked++ === 0) await new Promise(() => {})
    return { token: 'theirs', expiresOnTimestamp: Date.now() + 3_600_000 }
  })
  const ending = new AbortController()
  const again = credential.getToken(scope, { abortSignal: ending.signal }).catch(() => credential.getToken(scope))
  ending.abort()
  expect(await again).toMatchObject({ token: 'theirs' })
})

it("takes the host's credential, and says so when it fails", async () => {
  const theirs = ofHost(async () => ({ token: 'theirs', expiresOnTimestamp: 1 }))
  expect(await theirs.getToken(scope)).toMatchObject({ token: 'theirs' })
  const broken = ofHost(() => Promise.reject(new Error('not signed in')))
  expect(await failure(broken.getToken(scope))).toMatchObject({
    code: 'CREDENTIALS_REJECTED',
    message: expect.stringMatching(/not signed in.*option credential/),
  })
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
  /** A folder of the test's own. */
  function makeFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'eventgrid-credential-'))
    onTestFinished(() => {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true })
    })
    return folder
  }

  const both = { tenantId: 'tenant-1', clientId: 'client-1' }
  it.each<{ kind: CredentialMetadata; variables?: Record<string, string> }>([
    { kind: { kind: 'workloadIdentity', ...both } },
    // A pod that has a workload identity has no other.
    { kind: { kind: 'managedIdentity', clientId: 'client-1' }, variables: { AZURE_TENANT_ID: 'tenant-1' } },
    { kind: { kind: 'default', ...both } },
  ])('with $kind.kind in a pod of workload identity, by tenant and client', async ({ kind, variables = {} }) => {
    const entra = await startEntra(() => granted)
    const file = join(makeFolder(), 'token')
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
    const folder = makeFolder()
    const token = { accessToken: 'token-marked', expires_on: 4070908800, expiresOn: '2099-01-01 00:00:00', tenant: 't' }
    writeFileSync(
      join(folder, 'az'),
      `#!/bin/sh\necho "$@" >> ${join(folder, 'args')}\necho '${JSON.stringify(token)}'\n`,
    )
    chmodSync(join(folder, 'az'), 0o755)
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
    const credential = createCredential({ kind: 'cli', tenantId: 'tenant-1' }, { environment, endpoints: {} })
    const calls = Array.from({ length: 50 }, () => credential.getToken(scope))
    for (const token of await Promise.all(calls)) expect(token).toMatchObject({ token: 'token-marked' })
    // One process for all of them.
    expect(readFileSync(join(folder, 'args'), 'utf8')).toMatch(/^.*--tenant tenant-1.*\n$/)
  })
})

it('makes the credentials that are only asked when a token is needed', () => {
  const kinds: CredentialMetadata[] = [
    { kind: 'managedIdentity', clientId: 'client-1' },
    { kind: 'cli', tenantId: undefined },
    { kind: 'default', tenantId: 'tenant-1', clientId: 'client-1' },
  ]
  for (const kind of kinds) expect(createCredential(kind, { environment, endpoints: {} })).toHaveProperty('getToken')
})

it('keeps a good token until the new one is there, and has no client renew it behind our back', async () => {
  let asked = 0
  const lives = [3_600_000, 3_600_000, 60_000, 3_600_000]
  const credential = ofHost(async () => ({
    token: `token-${asked}`,
    expiresOnTimestamp: Date.now() + (lives[asked++] ?? 0),
  }))
  const take = async (claims?: string) => {
    const token = await credential.getToken(scope, claims === undefined ? {} : { claims })
    // The SDKs renew what is not expired in the background, where nobody hears of a failure.
    expect(token?.expiresOnTimestamp).toBeLessThan(Date.now())
    return token?.token
  }
  expect([await take(), await take()]).toEqual(['token-0', 'token-0'])
  expect(await take('a challenge')).toBe('token-1')
  expect(credential.renew('token-1')).toBe(true)
  // Good for a minute more: it is kept while the next one is on its way.
  expect([await take(), await take()]).toEqual(['token-2', 'token-2'])
  await new Promise(setImmediate)
  expect(await take()).toBe('token-3')
})

it('renews a refused token at once, and then not for a minute, each scope for itself', async () => {
  let asked = 0
  const credential = ofHost(async () => ({ token: `token-${asked++}`, expiresOnTimestamp: Date.now() + 3_600_000 }))
  const other = 'https://eventgrid.azure.net/.default'
  const take = async (from: string) => (await credential.getToken(from)).token
  expect([await take(scope), await take(other)]).toEqual(['token-0', 'token-1'])
  expect(credential.renew('token-0')).toBe(true)
  // Whoever was refused with it too.
  expect(credential.renew('token-0')).toBe(true)
  expect([await take(scope), await take(other)]).toEqual(['token-2', 'token-1'])
  expect(credential.renew('token-2')).toBe(false)
  expect(credential.renew('token-1')).toBe(true)
  expect([await take(scope), await take(other)]).toEqual(['token-2', 'token-3'])
  // A claims challenge brings another token, and no new minute.
  await credential.getToken(scope, { claims: 'a challenge' })
  expect(credential.renew('token-4')).toBe(false)
})

it('keeps no token that was on its way when the one before was refused', async () => {
  const answers: ((token: string) => void)[] = []
  const lives = [60_000]
  const credential = ofHost(async () => {
    const token = await new Promise<string>((answer) => answers.push(answer))
    return { token, expiresOnTimestamp: Date.now() + (lives.pop() ?? 3_600_000) }
  })
  const first = credential.getToken(scope)
  answers[0]?.('first')
  await first
  // It is renewed in advance.
  expect((await credential.getToken(scope)).token).toBe('first')
  credential.renew('first')
  answers[1]?.('old')
  const next = credential.getToken(scope)
  answers[2]?.('new')
  expect((await next).token).toBe('new')
})
