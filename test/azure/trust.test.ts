import { Agent as HttpAgent } from 'node:http'
import { Agent } from 'node:https'
import { createHttpHeaders, createPipelineRequest, type PipelineRequest } from '@azure/core-rest-pipeline'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCertificateAuthority } from '../../packages/emulator/src/server/tls/certificates.ts'
import { openConnections, route, secureContextOf } from '../../src/azure/http.ts'

const newCa = () => createCertificateAuthority().certificate
const ca = newCa()
const request = (url = 'https://x.example.com', agent?: Agent): PipelineRequest => {
  const made = createPipelineRequest({ url })
  if (agent) made.agent = agent
  return made
}
/** The agent of a proxy, which the SDK has chosen. */
const proxy = new Agent()

function useProxy(variables: Readonly<Record<string, string>>): void {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const name of ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY', 'NO_PROXY']) {
    vi.stubEnv(name, variables[name])
    vi.stubEnv(name.toLowerCase(), undefined)
  }
}

describe('route', () => {
  it('shares connections among requests with the same certificates', () => {
    const [one, other, another] = [request(), request(), request()]
    route(one, { ca })
    route(other, { ca })
    route(another, { ca: newCa() })
    expect(one.agent).toMatchObject({ keepAlive: true, options: { secureContext: secureContextOf({ ca }) } })
    expect(other.agent).toBe(one.agent)
    expect(another.agent).not.toBe(one.agent)
  })

  it.each([
    { name: 'where there are no certificates', url: 'https://x.example.com', endpoints: {} },
    { name: 'by http', url: 'http://169.254.169.254', endpoints: { ca } },
  ])("leaves connections to the SDK's client $name", ({ url, endpoints }) => {
    const made = request(url)
    route(made, endpoints)
    expect(made.agent).toBeUndefined()
  })

  it.each([
    { url: 'https://x.example.com', endpoints: {} },
    { url: 'https://x.example.com', endpoints: { ca } },
    { url: 'http://x.example.com', endpoints: { ca } },
  ])('goes past a proxy by NO_PROXY alone: $url', ({ url, endpoints }) => {
    useProxy({ HTTPS_PROXY: 'http://proxy.example.com', NO_PROXY: '.example.com' })
    const past = request(url, proxy)
    route(past, endpoints)
    expect(past.agent).not.toBe(proxy)
    useProxy({ HTTPS_PROXY: 'http://proxy.example.com' })
    const through = request(url, proxy)
    through.requestOverrides = { headers: {} }
    route(through, endpoints)
    expect(through.agent).toBe(proxy)
    const isTrusting = endpoints.ca !== undefined && url.startsWith('https')
    const secureContext = secureContextOf({ ca })
    expect(through.requestOverrides).toEqual({ headers: {}, ...(isTrusting && { secureContext }) })
    useProxy({ HTTPS_PROXY: 'socks5://proxy.example.com' })
    expect(() => route(request(url, proxy), endpoints)).toThrow(expect.objectContaining({ code: 'METADATA_INVALID' }))
  })
})

describe('connections of its own', () => {
  it.each([
    { name: 'trust certificates', endpoints: { ca }, options: {}, kind: Agent },
    { name: "trust Node's own", endpoints: {}, options: {}, kind: Agent },
    { name: 'are plain', endpoints: {}, options: { isPlain: true }, kind: HttpAgent },
  ])('$name, and are closed', async ({ endpoints, options, kind }) => {
    const { policy, close } = openConnections(endpoints, options)
    const made = request()
    const answer = { request: made, headers: createHttpHeaders(), status: 200 }
    expect(await policy.sendRequest(made, async () => answer)).toBe(answer)
    const { agent } = made
    expect(agent?.constructor).toBe(kind)
    expect(agent).toMatchObject({ keepAlive: true })
    expect(Object(agent).options.secureContext).toBe(secureContextOf(endpoints))
    const destroy = vi.spyOn(agent ?? proxy, 'destroy')
    close()
    expect(destroy).toHaveBeenCalledOnce()
  })
})

it('keeps what it parsed of the last eight certificates', () => {
  const all = Array.from({ length: 8 }, newCa)
  const contexts = all.map((one) => secureContextOf({ ca: one }))
  expect(all.map((one) => secureContextOf({ ca: one }))).toEqual(contexts)
  expect(secureContextOf({ ca: all[0] ?? '' })).toBe(contexts[0])
  secureContextOf({ ca: newCa() })
  expect(secureContextOf({ ca: all[1] ?? '' })).toBe(contexts[1])
  expect(secureContextOf({ ca: all[0] ?? '' })).not.toBe(contexts[0])
  expect(secureContextOf({})).toBeUndefined()
})
