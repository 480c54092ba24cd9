// The bare loop beside our receiver: receive 100, acknowledge 100, and nothing else. No renewal, no time-out, no second try.
import { Agent, request } from 'node:https'
import { say, setup } from './json-lines.ts'
import { answerTimedEvents, handle } from './timed-events.ts'

interface Received {
  readonly value: readonly {
    readonly brokerProperties: { readonly lockToken: string }
    readonly event: { readonly type: string; readonly data: unknown }
  }[]
}

const { endpoint, ca, queue } = setup<{ endpoint: string; ca: string; queue: string }>()
const agent = new Agent({ keepAlive: true, ca })
const base = `${endpoint}/topics/bench/eventsubscriptions/${queue}`
const headers = { accept: 'application/json', authorization: 'SharedAccessKey a2V5' }

function post(operation: string, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${base}:${operation}`, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function loop(): Promise<void> {
  for (;;) {
    // The namespace of the benchmark answers with what is asked for, in this form.
    const { value }: Received = JSON.parse(await post('receive?maxEvents=100&maxWaitTime=120&api-version=2024-06-01'))
    if (value.length === 0) continue
    for (const { event } of value) handle(event)
    const lockTokens = value.map(({ brokerProperties }) => brokerProperties.lockToken)
    await post('acknowledge?api-version=2024-06-01', JSON.stringify({ lockTokens }))
  }
}

void loop()
say({})
await answerTimedEvents()
