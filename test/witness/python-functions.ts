import assert from 'node:assert/strict'
import { join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { startProgram } from './program.ts'
import { lastLine, preparePython, pythonOf, pythonSources } from './python-environment.ts'
import { type Step, takeStep, type Witness } from './witness.ts'

const python = 'python-functions'

/** Functions in Python as destinations: their events are read by Microsoft's library for functions. */
export const pythonFunctions: Witness = {
  name: "Azure Functions' Python library",
  prepare: () => preparePython(python, 'requirements-functions.txt'),
  run,
}

const app = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.Web/sites/shop'

/** An event subscription whose destination is a function of the app. */
const toFunction = (name: string, topic: string, more: object = {}, settings: object = {}) => ({
  ...{ name, topic },
  properties: {
    destination: { endpointType: 'AzureFunction', properties: { resourceId: `${app}/functions/${name}`, ...more } },
    retryPolicy: { maxDeliveryAttempts: 1 },
    ...settings,
  },
})

const cloudEvents = { eventDeliverySchema: 'CloudEventSchemaV1_0' }
const cloudEvent = (id: string) => ({ specversion: '1.0', id, source: '/shop', type: 'order.placed', data: { id } })
const gridEvent = (id: string) => ({
  ...{ id, subject: 'orders/1', eventType: 'order.placed', eventTime: '2026-01-05T14:07:09.1234567Z' },
  ...{ dataVersion: '2', data: { id } },
})

async function run(): Promise<readonly Step[]> {
  const host = startProgram(pythonOf(python), [join(pythonSources, 'functions_host.py')], {
    timeoutMs: 120_000,
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  })
  const lines = host.lines[Symbol.asyncIterator]()
  // Only functions_host.py writes these lines.
  const next = async () => JSON.parse(String((await lines.next()).value))
  try {
    const { port } = await next()
    await using emulator = await EventGridEmulator.start({
      functions: [{ resourceId: app, url: `http://127.0.0.1:${port}?code=a-key%2Fof%20the%20host` }],
      topics: [{ name: 'clouds' }, { name: 'grids', inputSchema: 'EventGridSchema' }, { name: 'others' }],
      eventSubscriptions: [
        toFunction('cloud', 'clouds', { maxEventsPerBatch: 10 }, cloudEvents),
        toFunction('grid', 'grids'),
        toFunction('fails', 'others', {}, cloudEvents),
        toFunction('nobody', 'others', {}, cloudEvents),
      ],
    })
    await emulator.idle()
    const deliveries = (name: string) => emulator.records.deliveries.filter((one) => one.subscriptionName === name)
    return [
      await takeStep('azure-functions reads a batch of CloudEvents, one by one', async () => {
        emulator.raise('clouds', [cloudEvent('a'), cloudEvent('b')])
        const told = { type: 'order.placed', source: '/shop' }
        for (const id of ['a', 'b']) {
          assert.deepEqual(await next(), { function: 'cloud', event: { id, ...told, data: { id } } })
        }
        await emulator.idle()
        assert.deepEqual(
          deliveries('cloud').map(({ status, eventIds }) => ({ status, eventIds })),
          [{ status: 202, eventIds: ['a', 'b'] }],
        )
      }),
      await takeStep('azure-functions reads an Event Grid event', async () => {
        emulator.raise('grids', [gridEvent('g')])
        const topic = emulator.topic('grids').id
        const told = { type: 'order.placed', subject: 'orders/1', topic, version: '2', year: 2026 }
        assert.deepEqual(await next(), { function: 'grid', event: { id: 'g', ...told, data: { id: 'g' } } })
      }),
      await takeStep('a function that raises an error is answered 500, one that is not there 404', async () => {
        emulator.raise('others', [cloudEvent('c')])
        await emulator.idle()
        const of = (name: string) => deliveries(name).map(({ status, responseBody }) => ({ status, responseBody }))
        const responseBody = 'Exception while executing function: fails: no c today'
        assert.deepEqual(of('fails'), [{ status: 500, responseBody }])
        assert.deepEqual(of('nobody'), [{ status: 404, responseBody: "cannot find function: 'nobody'" }])
      }),
    ]
  } finally {
    host.end()
    const ended = await host.ended
    if (ended.code !== 0) process.stderr.write(`${lastLine(ended)}\n`)
  }
}
