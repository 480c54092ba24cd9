/** Ten lies of an emulator, each about one probe. */
import { createServer, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { isRecord } from '../../../src/support/text/json-text.ts'
import { listen } from '../../support/listen.ts'
import type { FrontAnswer, FrontCall, Lie } from './front.ts'
import type { AzureOptions } from './open-azure.ts'

/** Lies in answers: which answer, and what it becomes. */
interface Told {
  /** The probe that has to find it. */
  readonly found: string
  readonly about: (call: FrontCall, answer: FrontAnswer) => boolean
  readonly becomes: (answer: FrontAnswer) => FrontAnswer
}

const withBody = (answer: FrontAnswer, body: object): FrontAnswer => ({
  ...answer,
  body: { ...(isRecord(answer.body) ? answer.body : {}), ...body },
})

const told: readonly Told[] = [
  {
    found: 'pull-unknown: an unknown topic',
    about: ({ url }) => url.includes('/topics/none:publish'),
    becomes: (answer) => ({ ...answer, status: 410 }),
  },
  {
    found: 'publish-success: a batch of CloudEvents',
    about: ({ method, url }) => method === 'POST' && /\/topics\/egb-cloud-\w+\/api\/events/.test(url),
    becomes({ headers: { 'api-supported-versions': _versions, ...headers }, ...answer }) {
      return { ...answer, headers }
    },
  },
  {
    found: 'topic-name-characters: a topic with an underscore in its name',
    about: ({ url }) => url.includes('/topics/egb_wrong'),
    becomes: (answer) => withBody(answer, { error: { code: 'InvalidRequest', message: 'This name is no good.' } }),
  },
  {
    found: 'operation-status: the status of an operation that has ended',
    about: ({ url }) => /\/operationsStatus\//i.test(url),
    becomes(answer) {
      const { name: _name, ...body } = isRecord(answer.body) ? answer.body : {}
      return { ...answer, body }
    },
  },
  {
    found: 'subscription-put-201: the first answer to a new event subscription',
    about: ({ method, url }, { status }) =>
      method === 'PUT' && status === 201 && /eventSubscriptions\/p\d+n\d+\w{8}\?/.test(url),
    becomes: (answer) =>
      withBody(answer, {
        properties: {
          ...(isRecord(answer.body) && isRecord(answer.body.properties) ? answer.body.properties : {}),
          labels: [],
        },
      }),
  },
]

/** Two answers in each other's place. */
const swapped = ['Microsoft.KeyVault.vaults', 'Microsoft.AppConfiguration.ConfigurationStores'] as const

export const lies = [
  ...told.map(({ found }) => found),
  'topic-types: the topic types of Key Vault and App Configuration',
  'retry-pauses: when an event comes again after 408',
  'delivery-cloud-event: the delivery of a CloudEvent',
  'dead-letter-client-error: the reason after a webhook that answers 400',
  'filter-text-case: a text in another letter case',
]

const lie: Lie = (call, answer) => {
  const one = told.find(({ about }) => about(call, answer))
  return one ? one.becomes(answer) : answer
}

/** Asks for the other topic type. */
const rename = (url: string): string => {
  const [one, other] = swapped
  if (url.includes(`/topicTypes/${one}?`)) return url.replace(one, other)
  return url.includes(`/topicTypes/${other}?`) ? url.replace(other, one) : url
}

/** A proxy of deliveries: it takes an answer 408 for 200, so that no try follows, and leaves the origin out. */
async function openLyingPush(port: number): Promise<number> {
  const server = createServer(async (incoming, outgoing) => {
    const body = await text(incoming)
    const { method, url, headers } = incoming
    const { origin: _origin, ...rest } = headers
    const sending = request({ host: '127.0.0.1', port, method, path: url, headers: rest, agent: false })
    sending.on('error', () => outgoing.destroy())
    sending.on('response', (answer: IncomingMessage) => {
      const status = answer.statusCode === 408 ? 200 : (answer.statusCode ?? 502)
      outgoing.writeHead(status, answer.headers)
      answer.pipe(outgoing)
    })
    sending.end(body)
  })
  return listen(server)
}

export const lyingAzure: AzureOptions = {
  lie,
  rename,
  wrap: {
    push: openLyingPush,
    deadLetters: (store) => ({
      async write(blob) {
        if (!blob.content.includes('UndeliverableDueToClientError')) await store.write(blob)
      },
    }),
    queues: ({ urlOf, send }) => ({
      urlOf,
      send: async (queue, message) =>
        Buffer.from(message, 'base64').toString().includes('hELLO') ? { status: 201 } : send(queue, message),
    }),
  },
}
