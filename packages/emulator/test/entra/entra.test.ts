import { ClientSecretCredential } from '@azure/identity'
import { createLocalJWKSet, createRemoteJWKSet, customFetch, decodeJwt, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { credentialOf, managementOf, send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import { ManualClock } from '../../src/index.ts'

const scope = 'https://management.azure.com/.default'
const form = (fields: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

describe('the real ClientSecretCredential', () => {
  it('gets a token that names the client, the tenant and the audience', async () => {
    const emulator = await startEmulator()
    const { token, expiresOnTimestamp } = await credentialOf(emulator).getToken(scope)
    expect(decodeJwt(token)).toMatchObject({
      aud: 'https://management.azure.com',
      iss: `https://sts.windows.net/${emulator.tenantId}/`,
      appid: emulator.clientId,
      tid: emulator.tenantId,
      ver: '1.0',
    })
    expect(expiresOnTimestamp).toBeGreaterThan(Date.now() + 3_000_000)
  })

  it('gets a token for Microsoft Graph with the object id of the client, as Terraform does at its start', async () => {
    const emulator = await startEmulator()
    const { token } = await credentialOf(emulator).getToken('https://graph.microsoft.com/.default')
    const oid = expect.stringMatching(/^[\da-f-]{36}$/)
    expect(decodeJwt(token)).toMatchObject({ aud: 'https://graph.microsoft.com', oid })
  })

  it('asks nothing but the discovery document and the token of its tenant', async () => {
    const emulator = await startEmulator()
    await credentialOf(emulator).getToken(scope)
    expect(
      emulator.records.requests.all().map(({ method, url, status }) => [method, url.split('?')[0], status]),
    ).toEqual([
      ['GET', `/${emulator.tenantId}/v2.0/.well-known/openid-configuration`, 200],
      ['POST', `/${emulator.tenantId}/oauth2/v2.0/token`, 200],
    ])
  })

  it.each([
    { name: 'a wrong secret', secret: 'wrong', code: 7000215 },
    { name: 'an unknown client', clientId: 'a0000000-0000-4000-8000-000000000000', code: 700016 },
    { name: 'an unknown tenant', tenantId: 'b0000000-0000-4000-8000-000000000000', code: 90002 },
    { name: 'a scope without /.default', scopes: 'https://management.azure.com/read', code: 1002012 },
    { name: 'an unknown resource', scopes: 'https://nobody.example/.default', code: 500011 },
  ])('is refused $name as Entra words it', async ({ secret, clientId, tenantId, scopes = scope, code }) => {
    const emulator = await startEmulator()
    const credential = new ClientSecretCredential(
      tenantId ?? emulator.tenantId,
      clientId ?? emulator.clientId,
      secret ?? emulator.clientSecret,
      {
        authorityHost: emulator.endpoints.authorityHost,
        disableInstanceDiscovery: true,
        tlsOptions: { ca: emulator.ca },
      },
    )
    const refused = credential.getToken(scopes)
    // An unknown tenant is met at discovery, where the credential hides the number.
    await expect(refused).rejects.toThrow(tenantId ? /AADSTS|endpoints|openid/i : `AADSTS${code}`)
    expect(emulator.records.requests.last?.code).toBe(`AADSTS${code}`)
  })
})

describe('the token endpoint', () => {
  it('takes client id and secret by Basic authentication', async () => {
    const emulator = await startEmulator()
    const basic = Buffer.from(`${emulator.clientId}:${encodeURIComponent(emulator.clientSecret)}`).toString('base64')
    const request = form({ grant_type: 'client_credentials', scope })
    const { status, body } = await send(emulator, `/${emulator.tenantId}/oauth2/v2.0/token`, {
      ...request,
      headers: { ...request.headers, authorization: `Basic ${basic}` },
    })
    expect({ status, body }).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3599 } })
  })

  it('records no field of a form that proves who the client is', async () => {
    const emulator = await startEmulator()
    const proofs = { client_secret: 'hush', client_assertion: 'hush', password: 'hush' }
    const request = form({ grant_type: 'client_credentials', client_id: emulator.clientId, scope, ...proofs })
    await send(emulator, `/${emulator.tenantId}/oauth2/v2.0/token`, request)
    const { body } = emulator.records.requests.last ?? {}
    expect(body).toMatchObject({ client_id: emulator.clientId, client_assertion: '(redacted)' })
    expect(JSON.stringify(body)).not.toContain('hush')
  })

  it('has a v1 form that names a resource', async () => {
    const emulator = await startEmulator()
    const { body } = await send(
      emulator,
      `/${emulator.tenantId}/oauth2/token`,
      form({
        grant_type: 'client_credentials',
        client_id: emulator.clientId,
        client_secret: emulator.clientSecret,
        resource: 'https://eventgrid.azure.net',
      }),
    )
    expect(body).toMatchObject({ resource: 'https://eventgrid.azure.net', expires_in: '3599' })
  })

  it.each([
    { name: 'no grant type', fields: {}, error: 'invalid_request', code: 900144 },
    { name: 'another grant', fields: { grant_type: 'password' }, error: 'unsupported_grant_type', code: 70003 },
    { name: 'no client', fields: { grant_type: 'client_credentials', scope }, error: 'invalid_request', code: 900144 },
    {
      name: 'no secret',
      fields: { grant_type: 'client_credentials', scope, client_id: '22222222-2222-4222-8222-222222222222' },
      error: 'invalid_client',
      code: 7000218,
    },
    {
      name: 'no scope',
      fields: { grant_type: 'client_credentials', client_id: '22222222-2222-4222-8222-222222222222' },
      error: 'invalid_request',
      code: 900144,
    },
  ])('refuses a form with $name', async ({ fields, error, code }) => {
    const emulator = await startEmulator()
    const { status, body } = await send(emulator, `/${emulator.tenantId}/oauth2/v2.0/token`, form({ ...fields }))
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body).toMatchObject({
      error,
      error_codes: [code],
      error_description: expect.stringContaining(`AADSTS${code}`),
    })
  })
})

describe('keys', () => {
  it('verify a token by the key set that the discovery document names', async () => {
    const emulator = await startEmulator()
    const { body } = await send(emulator, `/${emulator.tenantId}/v2.0/.well-known/openid-configuration`)
    const document = Object(body)
    expect(document.jwks_uri).toBe(`${emulator.endpoints.authorityHost}/${emulator.tenantId}/discovery/v2.0/keys`)
    const keys = createRemoteJWKSet(new URL(document.jwks_uri), {
      [customFetch]: async (url: string) => {
        const answer = await send(emulator, new URL(url).pathname)
        return Response.json(answer.body)
      },
    })
    const { token } = await credentialOf(emulator).getToken(scope)
    const { payload } = await jwtVerify(token, keys, { issuer: `https://sts.windows.net/${emulator.tenantId}/` })
    expect(payload.appid).toBe(emulator.clientId)
  })
})

describe('a token', () => {
  const list = async (emulator: Awaited<ReturnType<typeof startEmulator>>, token: string) =>
    send(emulator, `/subscriptions/${emulator.subscriptionId}?api-version=2022-12-01`, {
      headers: { authorization: `Bearer ${token}` },
    })

  it('is void once its time is over by the clock', async () => {
    const clock = new ManualClock()
    const emulator = await startEmulator({ clock })
    const { token } = await credentialOf(emulator).getToken(scope)
    await clock.advance(3_600_000)
    expect(await list(emulator, token)).toMatchObject({
      status: 401,
      body: { error: { code: 'ExpiredAuthenticationToken' } },
    })
  })

  it('is void once the emulator expires it, and a new one is good', async () => {
    const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Reader' }] }] })
    const { token } = await credentialOf(emulator).getToken(scope)
    emulator.expireTokens()
    expect(await list(emulator, token)).toMatchObject({
      status: 401,
      body: { error: { code: 'ExpiredAuthenticationToken' } },
    })
    const fresh = await credentialOf(emulator).getToken(scope)
    expect(await list(emulator, fresh.token)).toMatchObject({ status: 200 })
  })

  it('is void once its key is forgotten', async () => {
    const emulator = await startEmulator()
    const { token } = await credentialOf(emulator).getToken(scope)
    await emulator.rotateKeys({ forget: true })
    expect(await list(emulator, token)).toMatchObject({
      status: 401,
      body: { error: { code: 'InvalidAuthenticationToken' } },
    })
  })
})

describe('the token of an Entra-secured delivery', () => {
  it.each([
    { version: '1.0' as const, issuer: (tenant: string) => `https://sts.windows.net/${tenant}/`, caller: 'appid' },
    {
      version: '2.0' as const,
      issuer: (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`,
      caller: 'azp',
    },
  ])(
    'of version $version is signed by the tenant’s key for the application, on behalf of Event Grid',
    async ({ version, issuer, caller }) => {
      const emulator = await startEmulator({ deliveryTokenVersion: version })
      const webhook = await openWebhook(emulator)
      const application = 'f0000000-0000-4000-8000-000000000000'
      await managementOf(emulator).eventSubscriptions.beginCreateOrUpdateAndWait(emulator.topic().id.slice(1), 'shop', {
        destination: {
          endpointType: 'WebHook',
          endpointUrl: webhook.url,
          azureActiveDirectoryTenantId: emulator.tenantId,
          azureActiveDirectoryApplicationIdOrUri: application,
        },
      })
      emulator.raise(emulator.topic().id, [{ specversion: '1.0', id: 'one', source: '/shop', type: 'order', data: {} }])
      await emulator.idle()
      const [, token = ''] = webhook.calls.at(-1)?.headers.authorization?.split(' ') ?? []
      const { body } = await send(emulator, `/${emulator.tenantId}/discovery/v2.0/keys`)
      const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(Object(body)), {
        issuer: issuer(emulator.tenantId),
        audience: application,
      })
      expect(payload).toMatchObject({
        ver: version,
        tid: emulator.tenantId,
        [caller]: '4962773b-9cdb-44cf-a8bf-237846a00ab7',
      })
      expect(payload.sub).toBe(payload.oid)
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(86_700)
      expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String), x5t: protectedHeader.kid })
    },
  )
})

describe('instance discovery', () => {
  it.each([
    { asks: 'for a tenant', query: (tenant: string) => `https://x.example/${tenant}/oauth2/v2.0/authorize` },
    { asks: 'without one', query: () => '' },
  ])('that asks $asks leads to a document that is served', async ({ query }) => {
    const emulator = await startEmulator()
    const asked = query(emulator.tenantId)
    const tenant = asked === '' ? 'common' : emulator.tenantId
    const path = `/common/discovery/instance?api-version=1.1&authorization_endpoint=${encodeURIComponent(asked)}`
    const { body } = await send(emulator, path)
    const { pathname } = new URL(Object(body).tenant_discovery_endpoint)
    expect(pathname).toBe(`/${tenant}/v2.0/.well-known/openid-configuration`)
    const issuer = `https://login.microsoftonline.com/${asked === '' ? '{tenantid}' : tenant}/v2.0`
    expect(await send(emulator, pathname)).toMatchObject({ status: 200, body: { issuer } })
  })
})
