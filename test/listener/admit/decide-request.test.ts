import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Evidence } from '../../../src/listener/admit/credential-fault.ts'
import { decideByHead, type Gate } from '../../../src/listener/admit/decide-request.ts'

const proven: Evidence = { kind: 'proven' }
const gate = (changes: Partial<Gate>): Gate => ({
  eventSubscriptionName: 'orders',
  maxRequestBytes: 100,
  checkCredential: () => proven,
  handler: () => () => {},
  subscriptionWrittenAt: () => undefined,
  now: () => 0,
  allowedOrigin: 'eventgrid.azure.net',
  isDraining: () => false,
  isReady: () => true,
  health: () => ({}),
  ...changes,
})

const json = { 'content-type': 'application/json', 'content-length': '100' }
const validates = { ...json, 'aeg-event-type': 'SubscriptionValidation' }
const evidence = (kind: Evidence['kind']): Partial<Gate> => {
  const fault = { problem: 'audience' } as const
  return { checkCredential: () => (kind === 'failing' || kind === 'unavailable' ? { kind, fault } : { kind }) }
}
const ourName = { 'aeg-subscription-name': 'ORDERS' }
const otherName = { 'aeg-subscription-name': 'invoices' }
const long = (bytes: number) => ({ 'content-length': String(bytes) })
const fault = { problem: 'audience' }

describe('the head of a request decides', () => {
  it.each<{
    name: string
    method?: string
    given?: Partial<Gate>
    headers: IncomingHttpHeaders
    decision: object
  }>([
    { name: 'a delivery of the longest body', headers: json, decision: { kind: 'read', as: 'delivery' } },
    {
      name: 'a delivery of unknown length',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      decision: { kind: 'read', as: 'delivery' },
    },
    {
      name: 'a longer delivery',
      headers: { ...json, ...long(101) },
      decision: { status: 413, logEvent: 'unreadable', unproven: undefined },
    },
    {
      name: 'a delivery of what is no JSON',
      headers: { ...json, 'content-type': 'text/html' },
      decision: { status: 415, logEvent: 'unreadable', unproven: undefined },
    },
    {
      name: 'a delivery without a handler',
      ...{ given: { handler: () => undefined }, headers: json },
      decision: { status: 503, logEvent: 'noHandler', unproven: undefined },
    },
    {
      name: 'a delivery while it drains',
      ...{ given: { isDraining: () => true }, headers: json },
      decision: { status: 503, connection: 'close', logEvent: undefined, unproven: true },
    },
    {
      name: 'that the event subscription was deleted',
      headers: { ...long(101), 'aeg-event-type': 'SubscriptionDeletion' },
      decision: { status: 200, logEvent: 'subscriptionDeleted', unproven: undefined },
    },
    {
      name: 'a validation of the longest body, while it drains',
      given: { isDraining: () => true },
      headers: { ...validates, ...ourName, ...long(65_536) },
      decision: { kind: 'read', as: 'validation' },
    },
    {
      name: 'a longer validation',
      headers: { ...validates, ...ourName, ...long(65_537) },
      decision: { status: 413, logEvent: 'unreadable', unproven: true },
    },
    {
      name: 'a validation of another event subscription',
      headers: { ...validates, ...otherName },
      decision: { status: 403, logEvent: 'otherSubscription', unproven: true },
    },
    {
      name: 'a validation of no event subscription',
      headers: validates,
      decision: { status: 403, logEvent: 'otherSubscription', unproven: true },
    },
    {
      name: 'another method',
      ...{ method: 'GET', headers: {} },
      decision: { status: 405, allow: 'POST, OPTIONS', logEvent: 'otherMethod', unproven: true },
    },
    { name: 'OPTIONS', method: 'OPTIONS', headers: {}, decision: { status: 200, logEvent: undefined, unproven: true } },
    {
      name: 'OPTIONS of another origin',
      ...{ method: 'OPTIONS', headers: { 'webhook-request-origin': 'x' } },
      decision: { status: 200, logEvent: 'otherOrigin', unproven: true },
    },
    {
      name: 'no credential in our name',
      ...{ given: evidence('absent'), headers: { ...json, ...ourName } },
      decision: { status: 503, logEvent: 'foreign', fault: { problem: 'absent' } },
    },
    {
      name: 'no credential in no name',
      ...{ given: evidence('absent'), headers: json },
      decision: { status: 401, challenge: 'Bearer', logEvent: 'unauthorized' },
    },
    {
      name: 'no credential in another name',
      ...{ given: evidence('absent'), headers: { ...json, ...otherName } },
      decision: { status: 401, challenge: 'Bearer', logEvent: 'otherSender' },
    },
    {
      name: 'our key id with a wrong token',
      ...{ given: evidence('mismatch'), headers: { ...json, ...ourName } },
      decision: {
        ...{ status: 401, challenge: 'Bearer', logEvent: 'unauthorized' },
        fault: { problem: 'mismatch' },
      },
    },
    {
      name: 'a token that is not accepted, before our write',
      ...{ given: evidence('failing'), headers: { ...json, ...ourName } },
      decision: { status: 503, challenge: undefined, logEvent: 'unaccepted', fault },
    },
    {
      name: 'a token that is not accepted, just under ten minutes after our write',
      given: { ...evidence('failing'), subscriptionWrittenAt: () => 0, now: () => 599_999 },
      headers: { ...json, ...ourName },
      decision: { status: 503, logEvent: 'unaccepted', fault },
    },
    {
      name: 'a token that is not accepted, ten minutes after our write',
      given: { ...evidence('failing'), subscriptionWrittenAt: () => 0, now: () => 600_000 },
      headers: { ...json, ...ourName },
      decision: { status: 401, challenge: 'Bearer', logEvent: 'unauthorized', fault },
    },
    {
      name: 'a token that cannot be judged, however old our write is',
      given: { ...evidence('unavailable'), subscriptionWrittenAt: () => 0, now: () => 60_000_000 },
      headers: { ...json, ...otherName },
      decision: { status: 503, logEvent: 'unavailable', fault },
    },
  ])('$name', ({ method = 'POST', given = {}, headers, decision }) => {
    const made = decideByHead(gate(given), method, headers)
    if (made instanceof Promise || made.kind === 'read') return expect(made).toEqual(decision)
    const { answer, unproven, ...rest } = made
    const { allow, connection, 'www-authenticate': challenge } = answer.headers
    expect({ ...rest, unproven, status: answer.status, allow, connection, challenge }).toMatchObject(decision)
  })

  it('later, where the credential is judged later', async () => {
    const decision = decideByHead(gate({ checkCredential: () => Promise.resolve(proven) }), 'POST', json)
    expect(decision).toBeInstanceOf(Promise)
    expect(await decision).toEqual({ kind: 'read', as: 'delivery' })
  })
})
