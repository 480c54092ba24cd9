import { expect, it } from 'vitest'
import { ownDeliveryCredential } from '../../../src/core/delivery-credential.ts'
import { secretsOf } from '../../../src/metadata/typed/metadata.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { sampleInput, sampleOutput } from '../sample.ts'

it('are those of both sides, what deliveries carry, and what the queries of the endpoints hold', () => {
  const metadata = parseMetadata({
    ...sampleInput,
    ...sampleOutput,
    subscriberEndpoint: `${sampleInput.subscriberEndpoint}?query-of-input`,
    topicEndpoint: `${sampleOutput.topicEndpoint}?query-of-output`,
  })
  const delivery = metadata.push && ownDeliveryCredential(metadata.push)?.reveal()
  expect(delivery).toBeTruthy()
  const { clientSecret } = sampleInput
  const expected = [clientSecret, sampleOutput.accessKey, delivery, 'query-of-input', 'query-of-output']
  expect(new Set(secretsOf(metadata))).toEqual(new Set(expected))
})

it('are those of pull too', () => {
  const namespaceTopic = '/subscriptions/s/resourceGroups/g/providers/Microsoft.EventGrid/namespaces/n/topics/t'
  const namespaceEndpoint = 'https://n.example'
  const metadata = parseMetadata({ deliveryMode: 'pull', namespaceTopic, namespaceEndpoint, namespaceKey: 'a-key' })
  expect(secretsOf(metadata)).toEqual(['a-key'])
})
