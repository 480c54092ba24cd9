import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { decideByHead, type Gate } from '../../src/listener/admission.ts'
import type { Evidence } from '../../src/listener/log-events.ts'

const proven: Evidence = { kind: 'proven' }
const gate = (changes: Partial<Gate>): Gate => ({
  eventSubscriptionName: 'orders',
  maxRequestBytes: 100,
  manages: true,
  checkCredential: () => proven,
  namesFormer: () => false,
  handler: { current: () => {} },
  subscriptionWrittenAt: () => undefined,
  clock: { elapsed: () => 0 },
  allowedOrigin: 'eventgrid.azure.net',
  isDraining: false,
  isReady: () => true,
  health: () => ({}),
  ...changes,
})

const json = { 'content-type': 'application/json', 'content-length': '100' }
const validates = { ...json, 'aeg-event-type': 'SubscriptionValidation' }
const evidence = (kind: Evidence['kind']): Partial<Gate> => {
  const fault = { reason: 'its audience' }
  return { checkCredential: () => (kind === 'failing' || kind === 'unavailable' ? { kind, fault } : { kind }) }
}
const ourName = { ...json, 'aeg-subscription-name': 'ORDERS' }
const otherName = { ...json, 'aeg-subscription-name': 'invoices' }
const long = (bytes: number) => ({ 'content-length': String(bytes) })
const fault = { reason: 'its audience' }
const at = (minutes: number) => ({ subscriptionWrittenAt: () => 60_000, clock: { elapsed: () => minutes * 60_000 } })
const unauthorized = { status: 401, challenge: 'Bearer', logEvent: 'unauthorized' }
const validatesHere = { ...validates, 'aeg-subscription-name': 'ORDERS' }

describe('the head of a request decides', () => {
  it.each<[name: string, headers: IncomingHttpHeaders, decision: object, given?: Partial<Gate>, method?: string]>([
    ['a delivery of the longest body', json, { kind: 'delivery' }],
    [
      'a delivery of unknown length',
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      { kind: 'delivery' },
    ],
    ['a longer delivery', { ...json, ...long(101) }, { status: 413, logEvent: 'unreadable', unproven: undefined }],
    ['no JSON', { ...json, 'content-type': 'text/html' }, { status: 415, logEvent: 'unreadable', unproven: undefined }],
    [
      'no handler',
      json,
      { status: 503, logEvent: 'noHandler', unproven: undefined },
      { handler: { current: undefined } },
    ],
    [
      'a delivery while it drains',
      json,
      { status: 503, connection: 'close', logEvent: undefined, unproven: true },
      { isDraining: true },
    ],
    [
      'that the event subscription was deleted',
      { ...long(101), 'aeg-event-type': 'SubscriptionDeletion' },
      { status: 200, logEvent: 'subscriptionDeleted', unproven: undefined },
    ],
    [
      'a validation of the longest body, while it drains',
      { ...validatesHere, ...long(16_384) },
      { kind: 'validation' },
      { isDraining: true },
    ],
    [
      'a longer validation',
      { ...validatesHere, ...long(16_385) },
      { status: 413, logEvent: 'unreadable', unproven: true },
    ],
    [
      'a validation of another event subscription',
      { ...otherName, ...validates },
      { status: 403, logEvent: 'otherSubscription', unproven: true },
    ],
    ['a validation of none', validates, { status: 403, logEvent: 'otherSubscription', unproven: true }],
    ['another method', {}, { status: 405, allow: 'POST, OPTIONS', logEvent: 'otherMethod', unproven: true }, {}, 'GET'],
    ['OPTIONS', {}, { status: 200, logEvent: undefined, unproven: true }, {}, 'OPTIONS'],
    [
      'OPTIONS of another origin',
      { 'webhook-request-origin': 'x' },
      { status: 200, logEvent: 'otherOrigin', unproven: true },
      {},
      'OPTIONS',
    ],
    ['no credential in our name', ourName, { status: 503, logEvent: 'foreign', mayBeOurs: false }, evidence('absent')],
    [
      'no credential in our name, where others write the event subscription',
      ourName,
      { status: 503, logEvent: 'foreignUnmanaged', mayBeOurs: false },
      { ...evidence('absent'), manages: false },
    ],
    ['no credential in no name', json, { ...unauthorized }, evidence('absent')],
    [
      'no credential in another name',
      otherName,
      { status: 401, challenge: 'Bearer', logEvent: 'otherSender' },
      evidence('absent'),
    ],
    ['our key id with a wrong token', ourName, { ...unauthorized, mayBeOurs: true }, evidence('mismatch')],
    [
      'a token that is not accepted, before our write',
      ourName,
      { status: 503, challenge: undefined, logEvent: 'unaccepted', fault },
      evidence('failing'),
    ],
    [
      'a token that is not accepted, just under ten minutes after our write',
      ourName,
      { status: 503, logEvent: 'unaccepted' },
      { ...evidence('failing'), ...at(10.99) },
    ],
    ['one ten minutes after our write', ourName, { ...unauthorized, fault }, { ...evidence('failing'), ...at(11) }],
    [
      'a token that cannot be judged, however old our write is',
      otherName,
      { status: 503, logEvent: 'unavailable', fault },
      { ...evidence('unavailable'), ...at(1_000) },
    ],
  ])('%s', (_name, headers, decision, given = {}, method = 'POST') => {
    const made = decideByHead(gate(given), method, headers)
    if (made instanceof Promise || made.kind !== 'answer') return expect(made).toEqual(decision)
    const { answer, unproven, ...rest } = made
    const { allow, connection, 'www-authenticate': challenge } = answer.headers
    expect({ ...rest, unproven, status: answer.status, allow, connection, challenge }).toMatchObject(decision)
  })

  it('later, where the credential is judged later', async () => {
    const decision = decideByHead(gate({ checkCredential: () => Promise.resolve(proven) }), 'POST', json)
    expect(decision).toBeInstanceOf(Promise)
    expect(await decision).toEqual({ kind: 'delivery' })
  })
})
