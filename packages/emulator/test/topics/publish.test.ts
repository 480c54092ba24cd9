import { AzureKeyCredential } from '@azure/core-auth'
import {
  AzureSASCredential,
  EventGridDeserializer,
  EventGridPublisherClient,
  generateSharedAccessSignature,
} from '@azure/eventgrid'
import { describe, expect, it } from 'vitest'
import { credentialOf } from '../../../../test/support/azure-clients.ts'
import { cloudEvent, type EventGrid, errorOf, gridEvent, openEventGrid, publish } from '../event-grid.ts'

const insecure = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } }
/** Microsoft's client, which publishes by a key of the topic. */
const sdk = <Schema extends 'CloudEvent' | 'EventGrid'>(grid: EventGrid, schema: Schema, key = grid.topic.key) =>
  new EventGridPublisherClient(grid.topic.httpEndpoint, schema, new AzureKeyCredential(key), insecure)

/** The text of the first delivery, once all is delivered. */
async function delivered(grid: EventGrid): Promise<string> {
  await grid.emulator.idle()
  return grid.subscriber.deliveries()[0]?.body ?? ''
}
const reader = new EventGridDeserializer()

/** A SAS token for an hour, by default for the topic itself. */
const sasOf = ({ clock, topic }: EventGrid, endpoint = topic.httpEndpoint) =>
  generateSharedAccessSignature(endpoint, new AzureKeyCredential(topic.key), new Date(clock.now() + 3_600_000))

/** Microsoft's client publishes an event by a SAS token. */
async function sendBySas({ topic }: EventGrid, sas: string): Promise<void> {
  const credential = new AzureSASCredential(sas)
  const client = new EventGridPublisherClient(topic.httpEndpoint, 'CloudEvent', credential, insecure)
  await client.send([{ source: '/s', type: 't' }])
}

/** Publishes an event by `authorization` alone, by default with a token of Entra. */
async function publishBy({ emulator, topic }: EventGrid, authorization?: string): Promise<Response> {
  const { token } = await credentialOf(emulator).getToken('https://eventgrid.azure.net/.default')
  return fetch(topic.httpEndpoint, {
    method: 'POST',
    headers: { authorization: authorization ?? `Bearer ${token}`, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(cloudEvent()),
  })
}

describe('the JavaScript SDK', () => {
  it('publishes CloudEvents with a key, and reads back what was delivered attribute by attribute', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    const time = new Date(grid.clock.now())
    await sdk(grid, 'CloudEvent', grid.topic.keys[1]).send([
      {
        id: 'e1',
        source: '/orders/1',
        type: 'Order.Placed',
        subject: 'orders',
        time,
        dataschema: 'https://schema.example/1',
        data: { amount: 5, none: null },
        extensionAttributes: { tenant: 'a', count: 3, hot: true },
      },
    ])
    const [received] = await reader.deserializeCloudEvents(await delivered(grid))
    expect(received).toMatchObject({
      id: 'e1',
      source: '/orders/1',
      type: 'Order.Placed',
      subject: 'orders',
      dataschema: 'https://schema.example/1',
      data: { amount: 5, none: null },
      extensionAttributes: { tenant: 'a', count: 3, hot: true },
    })
    expect(received?.time).toEqual(time)
  })

  it('publishes binary data, which arrives byte by byte', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    const data = Uint8Array.from([0, 255, 128, 10])
    await sdk(grid, 'CloudEvent').send([{ source: '/s', type: 't', data, datacontenttype: 'application/octet-stream' }])
    const [received] = await reader.deserializeCloudEvents(await delivered(grid))
    expect(received?.data).toEqual(Buffer.from(data))
    expect(received?.datacontenttype).toBe('application/octet-stream')
  })

  it('publishes Event Grid events, delivered in their own schema', async () => {
    const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
    await grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
    await sdk(grid, 'EventGrid').send([{ eventType: 'T', subject: 's', dataVersion: '2.0', data: { a: 1 } }])
    const [received] = await reader.deserializeEventGridEvents(await delivered(grid))
    expect(received).toMatchObject({
      topic: grid.topic.id,
      eventType: 'T',
      subject: 's',
      dataVersion: '2.0',
      data: { a: 1 },
    })
  })

  it('publishes Event Grid events, delivered as CloudEvents', async () => {
    const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
    await grid.subscribe()
    const time = '2026-01-05T14:07:09.123Z'
    const given = { id: 'x', eventType: 'T', subject: 's', dataVersion: '2.0', eventTime: new Date(time) }
    await sdk(grid, 'EventGrid').send([{ ...given, data: { a: 1 } }])
    const body = JSON.parse(await delivered(grid))
    const { id: source } = grid.topic
    expect(body).toEqual({ specversion: '1.0', id: 'x', source, type: 'T', subject: 's', time, data: { a: 1 } })
    const [received] = await reader.deserializeCloudEvents(body)
    expect(received?.data).toEqual({ a: 1 })
  })

  it.each(['', ',"data":null', ',"data":false', ',"data":""'])(
    'delivers an Event Grid event with "%s" so',
    async (data) => {
      const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
      await grid.subscribe()
      const { data: _data, ...event } = gridEvent()
      const body = `[${JSON.stringify(event).slice(0, -1)}${data}}]`
      expect((await publish(grid, body, { headers: { 'content-type': 'application/json' } })).status).toBe(200)
      const [, given = ''] = /"time":"[^"]*"(.*)}$/.exec(await delivered(grid)) ?? []
      expect(given).toBe(data)
    },
  )

  it('publishes with a SAS token that it made itself', async () => {
    const grid = await openEventGrid()
    const sas = await sasOf(grid)
    await sendBySas(grid, sas)
    await grid.clock.advance(3_600_001)
    await expect(sendBySas(grid, sas)).rejects.toMatchObject({
      statusCode: 401,
      code: 'Unauthorized',
      message: expect.stringContaining('has expired'),
    })
  })

  it('gets no further with a SAS token for another topic, or one of a key that was replaced', async () => {
    const grid = await openEventGrid()
    const other = await sasOf(grid, grid.topic.httpEndpoint.replace('orders', 'others'))
    await expect(sendBySas(grid, other)).rejects.toMatchObject({ statusCode: 401 })
    const sas = await sasOf(grid)
    await sendBySas(grid, sas)
    grid.emulator.addTopic({ name: 'orders', keys: [Buffer.alloc(32, 9).toString('base64'), grid.topic.keys[1]] })
    await expect(sendBySas(grid, sas)).rejects.toMatchObject({ statusCode: 401 })
  })

  it('publishes with an Entra token only if the principal has the role', async () => {
    const grid = await openEventGrid()
    expect((await publishBy(grid)).status).toBe(200)
    grid.emulator.removeRoles(grid.emulator.clientId)
    const refused = await publishBy(grid)
    expect(refused.status).toBe(401)
    expect((await errorOf(refused)).message).toContain(`does not have permission to send data to ${grid.topic.id}`)
  })

  it('is refused with the code and the words of the service', async () => {
    const grid = await openEventGrid()
    const wrong = Buffer.alloc(32, 7).toString('base64')
    await expect(sdk(grid, 'CloudEvent', wrong).send([{ source: '/s', type: 't' }])).rejects.toMatchObject({
      name: 'RestError',
      statusCode: 401,
      code: 'Unauthorized',
      message: expect.stringMatching(
        new RegExp(
          '^The request authorization key is not authorized for 127\\.0\\.0\\.1:\\d+\\. This is due to the reason: .+ ' +
            "Report '[0-9a-f-]{36}:0:1/5/2026 2:07:09 PM \\(UTC\\)' " +
            'to our forums for assistance or raise a support ticket\\.$',
        ),
      ),
    })
  })
})

describe('credentials', () => {
  it('may stand in the query', async () => {
    const grid = await openEventGrid()
    const query = `?aeg-sas-key=${encodeURIComponent(grid.topic.key)}`
    const headers = { 'content-type': 'application/cloudevents+json' }
    const body = JSON.stringify(cloudEvent())
    const answer = await fetch(`${grid.topic.httpEndpoint}${query}`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
  })

  it('may be a SAS token in the Authorization header', async () => {
    const grid = await openEventGrid()
    const sas = await sasOf(grid)
    expect((await publishBy(grid, `SharedAccessSignature ${sas}`)).status).toBe(200)
    const scheme = await publishBy(grid, 'Basic abc')
    expect(scheme.status).toBe(401)
    expect((await errorOf(scheme)).message).toContain('unsupported Authorization scheme')
  })

  it('other than tokens are refused where local authentication is off', async () => {
    const grid = await openEventGrid({ topic: { disableLocalAuth: true } })
    expect((await publish(grid, [cloudEvent()])).status).toBe(401)
    expect((await publishBy(grid)).status).toBe(200)
  })
})

describe('an accepted request', () => {
  it('is answered 200 with nothing in it, and names its version', async () => {
    const grid = await openEventGrid()
    const answer = await publish(grid, [cloudEvent()])
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
    expect(answer.headers.get('api-supported-versions')).toBe('2018-01-01')
    expect(answer.headers.get('x-ms-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(grid.records.requests.last).toMatchObject({
      route: 'topic',
      method: 'POST',
      status: 200,
      body: [cloudEvent()],
    })
  })

  it.each([
    { name: 'one CloudEvent', headers: { 'content-type': 'application/cloudevents+json' }, body: cloudEvent() },
    { name: 'a batch', headers: { 'content-type': 'application/cloudevents-batch+json' }, body: [cloudEvent()] },
    { name: 'one CloudEvent under plain JSON', headers: { 'content-type': 'application/json' }, body: cloudEvent() },
    {
      name: 'binary mode',
      headers: {
        'content-type': 'application/json',
        'ce-id': 'e1',
        'ce-source': '/orders/1',
        'ce-type': 'Order.Placed',
        'ce-specversion': '1.0',
        'ce-subject': 'caf%C3%A9',
      },
      body: { amount: 5 },
      extra: { datacontenttype: 'application/json', subject: 'café' },
    },
  ])('holds $name', async ({ headers, body, extra = {} }) => {
    const grid = await openEventGrid()
    await grid.subscribe()
    expect((await publish(grid, body, { headers })).status).toBe(200)
    expect(JSON.parse(await delivered(grid))).toEqual({ ...cloudEvent(), ...extra })
  })

  it("may say no version, and no media type for the Event Grid schema, as Microsoft's quickstart does", async () => {
    const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await publish(grid, [gridEvent()], { query: '', headers: form })).status).toBe(200)
  })

  it('keeps keys of the prototype as data', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    const body =
      '[{"specversion":"1.0","id":"1","source":"/s","type":"t","__proto__":"p","data":{"__proto__":{"a":1},"constructor":2}}]'
    expect((await publish(grid, body)).status).toBe(200)
    expect(await delivered(grid)).toBe(body.slice(1, -1))
  })

  it('in a custom schema is mapped for Event Grid, and passed on as it is', async () => {
    const inputSchemaMapping = {
      inputSchemaMappingType: 'Json',
      properties: {
        id: { sourceField: 'nr' },
        subject: { sourceField: 'about.what', defaultValue: 'nothing' },
        eventType: { defaultValue: 'Custom.Type' },
        dataVersion: { defaultValue: '3' },
      },
    } as const
    const grid = await openEventGrid({ topic: { inputSchema: 'CustomEventSchema', inputSchemaMapping } })
    await grid.subscribe({ eventDeliverySchema: 'EventGridSchema' }, { name: 'grid' })
    await grid.subscribe({ eventDeliverySchema: 'CloudEventSchemaV1_0' }, { name: 'cloud' })
    await grid.subscribe({ eventDeliverySchema: 'CustomInputSchema' }, { name: 'custom' })
    const event = { nr: '7', about: { what: 'tea' }, anything: [1] }
    expect((await publish(grid, [event], { headers: { 'content-type': 'application/json' } })).status).toBe(200)
    await grid.emulator.idle()
    const bodyOf = (name: string) => {
      const found = grid.subscriber.deliveries().find(({ headers }) => headers['aeg-subscription-name'] === name)
      return JSON.parse(found?.body ?? '')
    }
    const mapped = { id: '7', subject: 'tea', eventType: 'Custom.Type', dataVersion: '3', topic: grid.topic.id }
    expect(bodyOf('GRID')).toMatchObject([{ ...mapped, metadataVersion: '1', data: event }])
    expect(bodyOf('CLOUD')).toMatchObject({
      id: '7',
      subject: 'tea',
      type: 'Custom.Type',
      source: grid.topic.id,
      data: event,
    })
    expect(bodyOf('CUSTOM')).toEqual([event])
  })
})
