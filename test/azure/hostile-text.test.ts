/** Azure's texts repeat what was sent to it, and a proxy's may be anything: no length or form of one takes more than its fair time. */
import { createHttpHeaders, createPipelineRequest, RestError } from '@azure/core-rest-pipeline'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRetryAfter } from '../../src/azure/http.ts'
import { readFailure, readOperationFailure } from '../../src/azure/read-failure.ts'
import { explainFailure, type FailureContext } from '../../src/azure/refusals/resource-manager-refusal.ts'
import { bindingErrorCodes } from '../../src/core/errors.ts'
import { scrub } from '../../src/core/scrub.ts'
import { decideUpsert } from '../../src/provision/decide.ts'
import { readSubscriptionProperties } from '../../src/provision/values.ts'
import { desire } from '../provision/standing.ts'
import { anyText } from '../support/any-text.ts'

const length = 400_000
const fill = (text: string) => text.repeat(Math.ceil(length / text.length))
const hostile = [
  ...['a', ' ', 'http://', 'https://a?b ', 'https://a/"', '?', "The client '", "The client 'a", 'Http A'],
  ...['Http OPTIONS request failed with response code ', 'registration is in ', '. '],
  ...['The long-running operation has failed. ', '{"error":', '[', '\n'],
].map(fill)

const context: FailureContext = {
  scopeId: '/subscriptions/s1',
  subscriptionId: 's1',
  eventSubscriptionName: 'events1',
  clientId: undefined,
  subscriberEndpoint: 'https://app.example.com/api/events?code=marked',
  pathKind: 'extension',
  resourceManager: 'https://arm.example.com',
  secrets: ['marked', 'a b', 'half \ud800 a pair'],
}

function answered(bodyAsText: string): RestError {
  const status = 400
  const request = createPipelineRequest({ url: 'https://arm.example.com' })
  const headers = createHttpHeaders({ 'retry-after': bodyAsText.slice(0, 100).replaceAll(/[^ -~]/g, '') })
  const response = { status, headers, request, bodyAsText }
  return new RestError(bodyAsText, { statusCode: status, request, response })
}

/** Every way in which a text of Azure's gets in. */
const failures = (text: string) => [
  readFailure(answered(text), 0),
  readFailure(answered(JSON.stringify({ error: { code: text, message: text, details: [{ target: text }] } })), 0),
  readFailure(new Error(text), 0),
  readFailure(new Error(`The long-running operation has failed. ${text}`), 0),
  readOperationFailure(text),
  { ...readFailure(new Error(text), 0), kind: 'operation' as const, code: text },
  { ...readFailure(new Error(text), 0), kind: 'network' as const, code: text },
  { ...readFailure(new Error(text), 0), kind: 'handshake' as const },
]

describe('a text of Azure', () => {
  // Quadratic work on so much takes longer than a test may: the test's own time-out is the measure.
  it('of any length is read, judged and explained, and what is said of it is short', () => {
    for (const text of hostile) {
      for (const failure of failures(text)) {
        if (!failure) continue
        const { what, fix = '' } = explainFailure(failure, context)
        expect(what.length + fix.length).toBeLessThan(4_000)
      }
      expect(readRetryAfter(() => text, 0) ?? 0).toBeGreaterThanOrEqual(0)
    }
  })

  it('of any kind gets one of our codes and gives away no secret', () => {
    const words = ['marked', 'a b', 'https://x.example?code=marked', '"', '\n']
    const word = fc.constantFrom(...words, 'Http OPTIONS request failed with response code 503')
    const text = fc.oneof(
      anyText(),
      fc.array(fc.oneof(word, fc.string())).map((parts) => parts.join(' ')),
    )
    fc.assert(
      fc.property(text, (said) => {
        for (const failure of failures(said)) {
          if (!failure) continue
          const explained = explainFailure(failure, context)
          expect(bindingErrorCodes).toContain(explained.code)
          expect(JSON.stringify(explained)).not.toContain('marked')
        }
      }),
    )
  })

  it('is scrubbed once and for all', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string())),
        (parts) => {
          const once = scrub(parts.join(' '))
          expect(scrub(once)).toBe(once)
        },
      ),
    )
  })
})

it('reads and decides about properties of any form, and reaches no prototype', () => {
  fc.assert(
    fc.property(fc.object({ withNullPrototype: true }), (odd) => {
      const hostileProperties: unknown = {
        ...odd,
        ...JSON.parse('{"__proto__":{"polluted":1},"destination":{"__proto__":{"polluted":1}}}'),
      }
      const read = readSubscriptionProperties({ properties: hostileProperties })
      if ('properties' in read) decideUpsert(read.properties, desire())
      expect({}).not.toHaveProperty('polluted')
    }),
  )
})
