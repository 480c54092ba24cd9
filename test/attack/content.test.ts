import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { RejectEvent } from '../../src/core/event.ts'
import { Binding, BindingError, parseComponents } from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'
import { listen } from '../support/listen.ts'
import { processorMs } from '../support/processor-time.ts'
import {
  eventText,
  expectNoEffect,
  expectOneLine,
  openTarget,
  request,
  statuses,
  type Target,
  tokenHeader,
  tokenOf,
  useEmulator,
} from './target.ts'

const world = useEmulator()
const proof = ({ clientSecret, scope }: Target) => ({ [tokenHeader]: tokenOf(clientSecret, scope) })

describe('a line of the log cannot be forged by', () => {
  const forged = 'x\r\nwarn forged {"line":true}\u001b[2J\u2028\u0000\u202e\u009b'

  it.each([
    { name: 'the id of an event whose handler fails', id: forged, error: new Error('no') },
    { name: 'the id of an event that is rejected', id: forged, error: new RejectEvent('no') },
    { name: 'what the handler quotes in its error', id: '1', error: new Error(forged) },
    { name: 'the name of an error', id: '1', error: Object.assign(new Error('no'), { name: forged }) },
    { name: 'an id of a megabyte', id: forged.repeat(30_000), error: new Error('no') },
  ])('$name', async ({ id, error }) => {
    const target = await openTarget(world(), {
      onEvent() {
        throw error
      },
    })
    const { status } = await target.post(proof(target), eventText(id))
    expect([400, 500]).toContain(status)
    expectNoEffect(target)
    expect(JSON.stringify(target.lines()).length).toBeLessThan(1_000)
  })

  it('the origin of a handshake', async () => {
    const target = await openTarget(world())
    const origin = `evil\u009b\u0085${'x'.repeat(5_000)}`
    await target.exchange(
      Buffer.from(
        request('OPTIONS /api/events HTTP/1.1', [`webhook-request-origin: ${origin}`, 'connection: close']),
        'latin1',
      ),
    )
    expectNoEffect(target)
    expect(JSON.stringify(target.lines()).length).toBeLessThan(1_000)
  })

  it('a header with a line end in it, which is no header', async () => {
    const target = await openTarget(world())
    const answer = await target.exchange(
      'OPTIONS /api/events HTTP/1.1\r\nhost: x\r\nwebhook-request-origin: a\rb\r\n\r\n',
    )
    expect(answer).toBe('')
    expectNoEffect(target)
  })
})

describe('prototypes are not polluted by', () => {
  const pollution = [
    '{"__proto__":{"polluted":1}',
    '"constructor":{"prototype":{"polluted":1}}',
    '"prototype":{"polluted":1}',
  ].join()
  const clean = () => {
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(Reflect.get([], 'polluted')).toBeUndefined()
    expect(Reflect.get(() => {}, 'polluted')).toBeUndefined()
  }

  it('an event, whose keys are plain data', async () => {
    const target = await openTarget(world())
    const body = `${pollution},"specversion":"1.0","id":"1","source":"/s","type":"t","data":${pollution}}}`
    expect((await target.post(proof(target), body)).status).toBe(200)
    const [event] = target.handled
    expect(event?.data.toString()).toBe(body)
    expect(Object.keys(event?.cloudEvent ?? {})).toContain('__proto__')
    expect(Reflect.get(event?.cloudEvent ?? {}, 'polluted')).toBeUndefined()
    clean()
  })

  it('an event whose attributes stand in a prototype key, which is no event', async () => {
    const target = await openTarget(world())
    const body = '{"__proto__":{"specversion":"1.0","id":"1","source":"/s","type":"t"}}'
    expect((await target.post(proof(target), body)).status).toBe(400)
    expectNoEffect(target)
    clean()
  })

  it('headers of a delivery', async () => {
    const target = await openTarget(world())
    const headers = ['content-type: application/json', `${tokenHeader}: ${proof(target)[tokenHeader]}`]
    const odd = ['__proto__: polluted', 'constructor: polluted', 'prototype: polluted', 'connection: close']
    const answer = await target.exchange(request('POST /api/events HTTP/1.1', [...headers, ...odd], eventText('1')))
    expect(statuses(answer)).toEqual([200])
    const metadata = target.handled[0]?.metadata ?? {}
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
    clean()
  })

  it.each([
    {
      name: 'a record of metadata',
      metadata: JSON.parse('{"__proto__":{"scope":"/x"},"constructor":"x","prototype":"x"}'),
    },
    {
      name: 'a list of metadata',
      metadata: {
        name: 'x',
        properties: ['__proto__', 'constructor', 'toString'].map((name) => ({ name, value: 'x' })),
      },
    },
  ])('$name', async ({ metadata }) => {
    const binding = new Binding({ logger: captureLog() })
    await expect(binding.init(metadata)).rejects.toMatchObject({ code: 'METADATA_INVALID' })
    clean()
  })

  it.each([
    { name: 'a key', text: '__proto__:\n  polluted: 1\nkind: Component\n' },
    { name: 'a merge', text: 'a: &a\n  __proto__: { polluted: 1 }\nb:\n  <<: *a\nkind: Component\n' },
    {
      name: 'a component within one',
      text: [
        'apiVersion: dapr.io/v1alpha1',
        'kind: Component',
        'metadata: { name: x, __proto__: { polluted: 1 } }',
        'spec:',
        '  type: bindings.azure.eventgrid',
        '  version: v1',
        '  metadata:',
        '    - { name: __proto__, value: polluted }',
        '    - { name: constructor, value: polluted }',
      ].join('\n'),
    },
  ])('YAML: $name', ({ text }) => {
    try {
      const components = parseComponents(text, { file: 'x.yaml', env: {}, secrets: {} })
      for (const component of components) expect(Reflect.get(component, 'polluted')).toBeUndefined()
    } catch (error) {
      expect(error).toBeInstanceOf(BindingError)
    }
    clean()
  })

  it('what is published', async () => {
    const { emulator, credential } = world()
    const { endpoint, key } = emulator.topic()
    const binding = new Binding({ endpoints: emulator.endpoints, credential })
    onTestFinished(() => binding.close())
    await binding.init({ direction: 'output', topicEndpoint: endpoint, accessKey: key })
    await binding.invoke('create', `${pollution}}`, {
      metadata: JSON.parse('{"__proto__":"x","constructor":"x","type":"t"}'),
    })
    clean()
  })
})

describe('what asks the binding to call an address', () => {
  it.each([
    { name: 'validationUrl of an Event Grid event', schema: 'grid' },
    { name: 'validationUrl of a CloudEvent', schema: 'cloud' },
    { name: 'WebHook-Request-Callback', schema: 'options' },
  ])('$name is not obeyed', async ({ schema }) => {
    const calls: (string | undefined)[] = []
    const server = createServer((incoming, outgoing) => {
      calls.push(incoming.url)
      outgoing.end()
    })
    const url = `http://127.0.0.1:${await listen(server)}/validate`
    const target = await openTarget(world())
    const data = { validationCode: 'code', validationUrl: url }
    const validation = {
      ...JSON.parse(eventText('1')),
      eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
      data,
    }
    const answer =
      schema === 'options'
        ? await fetch(`http://127.0.0.1:${target.port}/api/events`, {
            method: 'OPTIONS',
            headers: { 'webhook-request-origin': 'eventgrid.azure.net', 'webhook-request-callback': url },
          })
        : await target.post(
            { 'aeg-event-type': 'SubscriptionValidation' },
            JSON.stringify(schema === 'grid' ? [validation] : validation),
          )
    expect(answer.status).toBe(200)
    // Whoever calls has done so before the next answer of the same process is here.
    await fetch(url.replace('validate', 'last'))
    expect(calls).toEqual(['/last'])
    expect(target.handled).toEqual([])
  })

  it('a validation brings no event and shows nothing, whatever stands beside its code', async () => {
    const target = await openTarget(world())
    const body = JSON.stringify([{ data: { validationCode: '<script>"\u2028' } }, JSON.parse(eventText('1'))])
    expect((await target.post({ 'aeg-event-type': 'SubscriptionValidation' }, body)).status).toBe(400)
    expectNoEffect(target)
  })
})

describe('a body that costs more than it is', () => {
  const levels = 2_000_000
  it.each([
    { name: 'nested two million levels', body: `${'['.repeat(levels)}${']'.repeat(levels)}` },
    {
      name: 'an event of nearly two million levels',
      body: eventText('1', { data: 0 }).replace('"data":0', `"data":${'['.repeat(1_900_000)}${']'.repeat(1_900_000)}`),
    },
    { name: 'nested and never closed', body: '{"a":'.repeat(700_000) },
    { name: 'four megabytes of brackets closed first', body: ']'.repeat(4_000_000) },
    {
      name: 'an event with a quarter of a million keys',
      body: eventText('1', { data: undefined }).replace('}', `${keys(250_000)}}`),
    },
    { name: 'one key a hundred thousand times', body: `{${'"specversion":"1.0",'.repeat(200_000)}"id":"1"}` },
    { name: 'a million empty events', body: `[${'{},'.repeat(1_300_000)}{}]` },
    { name: 'a number of four million digits', body: `{"specversion":${'9'.repeat(4_000_000)}}` },
    { name: 'four megabytes of backslashes', body: `{"a":"${'\\\\'.repeat(2_000_000)}` },
    { name: 'a string that never ends', body: `{"a":"${'x'.repeat(4_000_000)}` },
    { name: 'four megabytes of spaces', body: ' '.repeat(4_000_000) },
  ])(
    '$name is answered at a small cost',
    async ({ body }) => {
      const target = await openTarget(world())
      let status = 0
      const cost = await processorMs(async () => {
        status = (await target.post(proof(target), body)).status
      })
      expect([200, 400]).toContain(status)
      expect(cost).toBeLessThan(5_000)
      if (status === 400) expectOneLine(target)
    },
    60_000,
  )
})

const keys = (count: number) => Array.from({ length: count }, (_, index) => `,"k${index}":1`).join('')
