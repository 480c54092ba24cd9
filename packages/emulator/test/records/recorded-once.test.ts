import { fastify } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { ManualClock } from '../../src/index.ts'
import { createRecords } from '../../src/records/record-types.ts'
import { createFaults } from '../../src/server/faults.ts'
import { recordRequests } from '../../src/server/recording.ts'

it('a request whose answer could not be sent is recorded once, with the status that it was to have', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  const records = createRecords()
  app.decorateRequest('outcome')
  app.addHook('onRequest', async (request) => {
    request.outcome = {}
  })
  recordRequests(app, 'topic', { clock: new ManualClock(), faults: createFaults(), records }, () => ({}))
  let failures = 1
  // After the record was made: Fastify then sends an error in the place of the answer.
  app.addHook('onSend', async () => {
    if (failures-- > 0) throw new Error('not sent')
  })
  app.get('/', async () => 'answer')
  expect((await app.inject('/')).statusCode).toBe(500)
  expect(records.requests.all().map(({ status }) => status)).toEqual([200])
})
