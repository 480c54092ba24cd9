import { createServer } from 'node:https'
import type { AccessToken, GetTokenOptions } from '@azure/core-auth'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCertificateAuthority } from '../../packages/emulator/src/server/tls/certificates.ts'
import { createCredential } from '../../src/azure/credential.ts'
import { NoTokenError } from '../../src/azure/refusals/entra-refusal.ts'
import type { RenewableCredential } from '../../src/azure/token-keeper.ts'
import { BindingError } from '../../src/core/errors.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import type { OutputMetadata } from '../../src/metadata/typed/metadata.ts'
import { createTopicClient } from '../../src/publisher/topic.ts'
import { listen } from '../support/listen.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { refusal } from '../support/refusal.ts'
import { openPublisher } from './open-publisher.ts'
import { event, startTopic } from './scripted-topic.ts'

/** A topic over TLS with a certificate nobody knows. It answers as `answer` says and keeps the headers it got. */
async function startSecureTopic({ status = 200, host = '127.0.0.1' } = {}) {
  const authority = createCertificateAuthority()
  const { certificate: cert, key } = authority.issue([host])
  const seen: (string | undefined)[] = []
  const server = createServer({ cert, key }, (request, response) => {
    seen.push(request.headers.authorization ?? request.headers['aeg-sas-key']?.toString())
    request.resume().on('end', () => response.writeHead(status).end())
  })
  return { endpoint: `https://127.0.0.1:${await listen(server)}/api/events`, ca: authority.certificate, seen }
}

const entra: Partial<OutputMetadata> = {
  authentication: { kind: 'entra', credential: { kind: 'managedIdentity', clientId: 'client-1' } },
  environment: azureEnvironments.AzureUSGovernmentCloud,
}

const inAnHour = () => Date.now() + 3_600_000

it.each([
  { name: 'whose certificate nobody vouches for', host: '127.0.0.1', isTrusted: false, says: /endpoints\.ca/ },
  {
    name: 'that is another host',
    host: 'other.example.com',
    isTrusted: true,
    says: /is for another host: check the name/,
  },
])('a topic $name gets no key, and fails without a retry', async ({ host, isTrusted, says }) => {
  const topic = await startSecureTopic({ host })
  const { publisher } = openPublisher(topic.endpoint, isTrusted ? { ca: topic.ca } : {})
  expect(await refusal(publisher.publish(event('1')))).toMatchObject({
    code: 'PUBLISH_UNAVAILABLE',
    message: expect.stringMatching(says),
    details: { attempts: 1 },
  })
  expect(topic.seen).toEqual([])
})

/** Gives one token, and none to who asks again. */
function giveOnce(token: AccessToken) {
  const asked = Promise.withResolvers<GetTokenOptions['abortSignal']>()
  const tokens = [token]
  return {
    askedAgain: asked.promise,
    async getToken(_scope: unknown, options?: GetTokenOptions) {
      const given = tokens.pop()
      if (given) return given
      asked.resolve(options?.abortSignal)
      return new Promise<never>(() => {})
    },
  }
}

describe('with topicAuthentication entra', () => {
  it("a token of the cloud's own scope is sent, and no key", async () => {
    const topic = await startSecureTopic()
    const scopes: unknown[] = []
    const credential = {
      async getToken(scope: unknown) {
        scopes.push(scope)
        return { token: 'token-1', expiresOnTimestamp: inAnHour() }
      },
    }
    const { publisher } = openPublisher(topic.endpoint, { ca: topic.ca, output: entra, credential })
    await publisher.publish(event('1'))
    expect(topic.seen).toEqual(['Bearer token-1'])
    expect(scopes).toEqual(['https://eventgrid.azure.us/.default'])
  })

  it('a lasting 401 renews the token once, and not again for a minute', async () => {
    const topic = await startSecureTopic({ status: 401 })
    let asked = 0
    const getToken = async () => ({ token: `token-${asked++}`, expiresOnTimestamp: inAnHour() })
    const credential = createCredential(
      { kind: 'host' },
      { environment: azureEnvironments.AzureUSGovernmentCloud, endpoints: {}, hostCredential: { getToken } },
    )
    const { publisher } = openPublisher(topic.endpoint, { ca: topic.ca, output: entra, credential })
    for (const id of ['1', '2'])
      expect(await refusal(publisher.publish(event(id)))).toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(topic.seen).toEqual(['Bearer token-0', 'Bearer token-1', 'Bearer token-1'])
  })

  const limits = { attemptTimeoutMs: 1_000, retryBaseMs: 200_000, retryCapMs: 200_000 }

  it('a new token that does not come is waited for no longer than an attempt lasts', async () => {
    const topic = await startSecureTopic({ status: 401 })
    const credential = { ...giveOnce({ token: 'token-1', expiresOnTimestamp: inAnHour() }), renew: () => true }
    const time = createManualClock()
    const options = { ca: topic.ca, output: entra, credential, clock: time.clock, limits }
    const failed = refusal(openPublisher(topic.endpoint, options).publisher.publish(event('1')))
    await credential.askedAgain
    time.advance(1_000)
    expect((await failed).code).toBe('PUBLISH_UNAVAILABLE')
  })

  it('a request that gives up waiting for the token leaves it to the others, and close ends the wait', async () => {
    const topic = await startSecureTopic()
    const waits: { signal: GetTokenOptions['abortSignal']; token: PromiseWithResolvers<AccessToken> }[] = []
    const credential: RenewableCredential = {
      getToken(_scopes, { abortSignal: signal } = {}) {
        const token = Promise.withResolvers<AccessToken>()
        signal?.addEventListener('abort', () => token.reject(new Error('nobody waits for the token')))
        waits.push({ signal, token })
        return token.promise
      },
      renew: () => false,
    }
    const environment = azureEnvironments.AzurePublicCloud
    const output = { topicEndpoint: topic.endpoint, environment, topicSchema: 'auto', publishTimeoutMs: 1 } as const
    const time = createManualClock()
    const client = createTopicClient({
      output: { ...output, authentication: { kind: 'entra', credential: { kind: 'host' } } },
      credential,
      endpoints: { ca: topic.ca },
      clock: time.clock,
    })
    const send = (ms: number) =>
      client.send('EventGridSchema', [{ id: '1', json: '{}', bytes: 2, origin: undefined, takesTrace: false }], ms)
    const first = send(1)
    const second = send(1_000)
    await vi.waitUntil(() => waits.length > 0)
    time.advance(1)
    expect(await first).toMatchObject({ kind: 'no-token', reason: 'no token came in time' })
    waits[0]?.token.resolve({ token: 'token-1', expiresOnTimestamp: 0 })
    expect(await second).toMatchObject({ kind: 'accepted' })
    const third = send(1_000)
    await vi.waitUntil(() => waits.length > 1)
    client.close()
    expect(await third).toMatchObject({ kind: 'no-token' })
    expect(waits[1]?.signal?.aborted).toBe(true)
  })

  it('a token that is asked for is asked for no more when the publisher closes', async () => {
    const topic = await startSecureTopic()
    const asked = Promise.withResolvers<GetTokenOptions['abortSignal']>()
    const getToken = (_scope: unknown, options?: GetTokenOptions) => {
      asked.resolve(options?.abortSignal)
      return new Promise<never>(() => {})
    }
    const time = createManualClock()
    const options = { ca: topic.ca, output: entra, credential: { getToken }, clock: time.clock }
    const { publisher } = openPublisher(topic.endpoint, options)
    const failed = refusal(publisher.publish(event('1')))
    const signal = await asked.promise
    const closed = publisher.close()
    time.advance(10_000)
    await closed
    expect((await failed).code).toBe('CLOSED')
    expect(signal?.aborted).toBe(true)
  })

  it('a credential that Entra refuses is CREDENTIALS_REJECTED at once', async () => {
    const topic = await startSecureTopic()
    const refused = { what: 'no token: AADSTS7000215', fix: 'check clientSecret' }
    const getToken = () => Promise.reject(new BindingError('CREDENTIALS_REJECTED', refused))
    const { publisher } = openPublisher(topic.endpoint, { ca: topic.ca, output: entra, credential: { getToken } })
    const error = await refusal(publisher.publish(event('1')))
    expect(error).toMatchObject({ code: 'CREDENTIALS_REJECTED', details: { attempts: 1 } })
    expect(error.message).toContain('AADSTS7000215')
    expect(error.message.match(/CREDENTIALS_REJECTED/g)).toHaveLength(1)
    expect(error.fix).toContain('check')
  })

  it('Entra is asked again when it could not be asked, and no sooner than it says', async () => {
    const topic = await startSecureTopic()
    let asked = 0
    const getToken = async () => {
      asked += 1
      if (asked === 1) throw new NoTokenError('it answered 429', { fix: undefined, retryAfterMs: 20 })
      return { token: 'token-1', expiresOnTimestamp: inAnHour() }
    }
    const { publisher, log } = openPublisher(topic.endpoint, {
      ca: topic.ca,
      output: entra,
      credential: { getToken },
      limits: { retryBaseMs: 1 },
    })
    await publisher.publish(event('1'))
    expect(topic.seen).toEqual(['Bearer token-1'])
    expect(log.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({ delayMs: 20 })
  })
})

describe('plain http', () => {
  const loopback = ['http://localhost:1/', 'http://127.0.0.2:1/', 'http://[::1]:1/', 'http://orders.localhost:1/']

  it.each(loopback)('to %s of loopback may be tried', async (url) => {
    const { publisher } = openPublisher(url, { limits: { publishTimeoutMs: 1 } })
    expect((await refusal(publisher.publish(event('1')))).message).not.toContain('plain http')
  })

  it('goes past a proxy, which would be shown the key', async () => {
    const topic = await startTopic()
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:1')
    const { publisher } = openPublisher(topic.endpoint)
    expect(await publisher.publish(event('1'))).toMatchObject({ count: 1 })
  })

  it('to another host sends nothing', async () => {
    const { publisher } = openPublisher('http://topic.invalid/api/events')
    const error = await refusal(publisher.publish(event('1')))
    expect(error).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 1 } })
    expect(error.message).toContain('plain http')
  })
})
