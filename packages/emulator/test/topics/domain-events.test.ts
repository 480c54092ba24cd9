/** What is published to a domain goes to the domain topic that each event names, and to the domain. */
import { AzureKeyCredential } from '@azure/core-auth'
import { EventGridPublisherClient, type InputSchema } from '@azure/eventgrid'
import { describe, expect, it } from 'vitest'
import { managementOf, send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import type { EventGridEmulator, TopicOptions } from '../../src/index.ts'

/** A domain with an event subscription of its own, `every`, and one each of its topics `lamps` and `chairs`. */
async function openDomain(options: Omit<TopicOptions, 'name'> = {}, eventDeliverySchema = 'CloudEventSchemaV1_0') {
  const emulator = await startEmulator({ domains: [{ name: 'shop', ...options }] })
  const webhook = await openWebhook(emulator, ({ body }) => {
    const code = /"validationCode":"([^"]+)"/.exec(body)?.[1]
    return code === undefined ? {} : { body: JSON.stringify({ validationResponse: code }) }
  })
  const { id } = emulator.domain()
  const { eventSubscriptions } = managementOf(emulator)
  for (const [name, scope] of [
    ['every', id],
    ['lamps', `${id}/topics/lamps`],
    ['chairs', `${id}/topics/chairs`],
  ] as const) {
    await eventSubscriptions.beginCreateOrUpdateAndWait(scope.slice(1), name, {
      destination: { endpointType: 'WebHook', endpointUrl: `${webhook.url}/${name}` },
      eventDeliverySchema,
    })
  }
  /** The events that each event subscription was sent, in any order. */
  const delivered = async () => {
    await emulator.settled()
    const sent: Record<string, unknown[]> = { every: [], lamps: [], chairs: [] }
    for (const { url, headers, body } of webhook.calls) {
      if (headers['aeg-event-type'] === 'Notification')
        sent[url.split('/').at(-1) ?? '']?.push(...[JSON.parse(body)].flat())
    }
    return sent
  }
  return { emulator, id, delivered }
}

function publisher<Schema extends InputSchema>(emulator: EventGridEmulator, schema: Schema) {
  const { httpEndpoint, key } = emulator.domain()
  const insecure = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } }
  return new EventGridPublisherClient(httpEndpoint, schema, new AzureKeyCredential(key), insecure)
}

const gridEvent = (id: string, topic?: string) => ({
  ...{ id, subject: '/s', eventType: 'Order.Placed', eventTime: new Date(0), dataVersion: '1', data: {} },
  ...(topic !== undefined && { topic }),
})
const cloudEvent = (id: string, source: string) => ({ id, source, type: 'Order.Placed', data: {} })
const ids = (events: unknown) => (Array.isArray(events) ? events.map(({ id }) => id).sort() : [])

describe('the JavaScript SDK publishes to a domain', () => {
  it('Event Grid events, which arrive with the id of their domain topic', async () => {
    const { emulator, id, delivered } = await openDomain({ inputSchema: 'EventGridSchema' }, 'EventGridSchema')
    const byId = `${id}/topics/chairs`
    await publisher(emulator, 'EventGrid').send([
      gridEvent('1', 'lamps'),
      gridEvent('2', byId),
      gridEvent('3', 'nobodys'),
    ])
    const { every, lamps, chairs } = await delivered()
    expect(ids(every)).toEqual(['1', '2', '3'])
    expect(lamps).toMatchObject([{ id: '1', topic: `${id}/topics/lamps` }])
    expect(chairs).toMatchObject([{ id: '2', topic: byId }])
  })

  it('CloudEvents, whose source names the domain topic and stays as it is', async () => {
    const { emulator, delivered } = await openDomain()
    await publisher(emulator, 'CloudEvent').send([cloudEvent('1', 'lamps'), cloudEvent('2', 'chairs')])
    const { every, lamps, chairs } = await delivered()
    expect(ids(every)).toEqual(['1', '2'])
    expect(lamps).toMatchObject([{ id: '1', source: 'lamps' }])
    expect(chairs).toMatchObject([{ id: '2', source: 'chairs' }])
  })

  it('events of its own schema, by the field that its mapping names', async () => {
    const inputSchemaMapping = {
      inputSchemaMappingType: 'Json' as const,
      properties: {
        topic: { sourceField: 'shelf' },
        eventType: { defaultValue: 'Order.Placed' },
        subject: { defaultValue: '/s' },
      },
    }
    const options = { inputSchema: 'CustomEventSchema' as const, inputSchemaMapping }
    const { emulator, id, delivered } = await openDomain(options, 'EventGridSchema')
    await publisher(emulator, 'Custom').send([{ shelf: 'lamps', count: 3 }])
    const { every, lamps, chairs } = await delivered()
    expect(every).toHaveLength(1)
    expect(lamps).toMatchObject([{ topic: `${id}/topics/lamps`, data: { shelf: 'lamps', count: 3 } }])
    expect(chairs).toEqual([])
  })
})

describe('a domain refuses', () => {
  const named =
    "Required property 'topic' needs to either be a full resource id or should be just the name of the domain topic."
  it.each([
    {
      name: 'an Event Grid event without a topic',
      schema: 'EventGrid' as const,
      event: gridEvent('1'),
      message: "requires 'topic' property to be set.",
    },
    {
      name: "an Event Grid event with another domain's topic",
      schema: 'EventGrid' as const,
      event: gridEvent(
        '1',
        '/subscriptions/1/resourceGroups/rg/providers/Microsoft.EventGrid/domains/other/topics/lamps',
      ),
      message: `${named} Found: /subscriptions/1/`,
    },
    {
      name: 'a CloudEvent whose source is a URL',
      schema: 'CloudEvent' as const,
      event: cloudEvent('1', 'https://shop.example/'),
      message: `${named} Found: https://shop.example/.`,
    },
  ])('$name, and the whole request', async ({ schema, event, message }) => {
    const inputSchema = schema === 'EventGrid' ? 'EventGridSchema' : 'CloudEventSchemaV1_0'
    const emulator = await startEmulator({ domains: [{ name: 'shop', inputSchema }] })
    const good = schema === 'EventGrid' ? gridEvent('0', 'lamps') : cloudEvent('0', 'lamps')
    await expect(publisher<InputSchema>(emulator, schema).send([good, event])).rejects.toMatchObject({
      statusCode: 400,
      code: 'BadRequest',
      message: expect.stringContaining(message),
    })
    expect(emulator.figures().published).toBe(0)
  })
})

it('raises at a domain what its events name, and at a domain topic what is raised there', async () => {
  const { emulator, id, delivered } = await openDomain()
  const event = { specversion: '1.0', id: '1', source: 'lamps', type: 'Order.Placed' }
  emulator.raise('shop', [event])
  emulator.raise(`${id}/topics/chairs`, [{ ...event, id: '2' }])
  const { every, lamps, chairs } = await delivered()
  expect([ids(every), ids(lamps), ids(chairs)]).toEqual([['1', '2'], ['1'], ['2']])
})

it('and a topic of the same name in another region are told apart by host name, and by their endpoints', async () => {
  const emulator = await startEmulator({
    topics: [{ name: 'shop', location: 'West US 2', resourceGroup: 'rg' }],
    domains: [{ name: 'shop', location: 'northeurope' }],
  })
  const sendTo = async (host: string, key: string) => {
    const body = JSON.stringify(cloudEvent('1', 'lamps'))
    const headers = { host, 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' }
    const answer = await send(emulator, '/api/events', {
      method: 'POST',
      headers,
      body: body.replace('{', '{"specversion":"1.0",'),
    })
    return answer.status
  }
  const [topic, domain] = [emulator.topic('shop'), emulator.domain('shop')]
  expect(topic.endpoint).not.toBe(domain.endpoint)
  expect(await sendTo('shop.westus2-1.eventgrid.azure.net', topic.key)).toBe(200)
  expect(await sendTo('shop.westus2-1.eventgrid.azure.net', domain.key)).toBe(401)
  expect(await sendTo('shop.northeurope-1.eventgrid.azure.net', domain.key)).toBe(200)
  expect(await sendTo('shop.eastus-1.eventgrid.azure.net', topic.key)).toBe(404)
  await publisher(emulator, 'CloudEvent').send([cloudEvent('2', 'lamps')])
  expect(emulator.figures().published).toBe(3)
})
