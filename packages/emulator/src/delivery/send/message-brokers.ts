/**
 * Sending to Service Bus and Event Hubs by connection string: which broker has a namespace, connections and their end, what errors mean.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { isLoopback } from '../../../../../src/support/net/hosts.ts'
import { codeOf, messageOf, nameOf } from '../../../../../src/support/process/error-code.ts'
import { requirePackage } from '../../../../../src/support/process/require-package.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import { sameName } from '../../model/resources/resource.ts'
import { type BrokerKind, type BrokerMessage, brokerMessageOf } from './broker-message.ts'
import type { Channel, FailureOutcome, WebhookResult } from './channel.ts'
import { secretHeadersOf } from './delivery-request.ts'

/** Where the emulator delivers for a namespace; of several that fit, the first is taken. */
export interface BrokerOptions {
  /** Resource id of the namespace. @default any */
  readonly resourceId?: string
  /** With `UseDevelopmentEmulator=true` at its end for an emulator, which is asked without TLS. */
  readonly connectionString: string
}

/** The brokers of each kind. */
export interface Brokers extends Readonly<Partial<Record<BrokerKind, readonly BrokerOptions[]>>> {}

interface BrokerSettings extends Brokers {
  /** How long a broker may take for its answer, in real milliseconds. */
  readonly answerTimeout: number
}

/** A connection for the events of one queue, topic or event hub. */
interface Connection {
  /** Sends once: Event Grid tries again by its own clock. */
  send(message: BrokerMessage, abortSignal: AbortSignal): Promise<void>
  close(): Promise<void>
}

interface Kind {
  readonly name: string
  readonly package: string
  readonly major: number
  connect(connectionString: string, entity: string, timeoutInMs: number): Promise<Connection>
}

const kinds: Readonly<Record<BrokerKind, Kind>> = {
  serviceBus: {
    ...{ name: 'Service Bus', package: '@azure/service-bus', major: 7 },
    async connect(connectionString, entity, timeoutInMs) {
      const { ServiceBusClient } = await import('@azure/service-bus')
      const client = new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 0, timeoutInMs } })
      const sender = client.createSender(entity)
      return {
        send: (message, abortSignal) => sender.sendMessages(message, { abortSignal }),
        close: () => client.close(),
      }
    },
  },
  eventHubs: {
    ...{ name: 'Event Hubs', package: '@azure/event-hubs', major: 6 },
    async connect(connectionString, entity, timeoutInMs) {
      const { EventHubProducerClient } = await import('@azure/event-hubs')
      const retryOptions = { maxRetries: 0, timeoutInMs }
      const client = new EventHubProducerClient(connectionString, entity, { retryOptions })
      return {
        send: (message, abortSignal) => client.sendBatch([message], { abortSignal }),
        close: () => client.close(),
      }
    },
  },
}

/** Throws an Error that says what to install, where the package for a kind of broker that is given is missing. */
export function requireBrokerPackages(brokers: Brokers): void {
  for (const kind of ['serviceBus', 'eventHubs'] as const) {
    const { name, package: needed, major } = kinds[kind]
    if (brokers[kind]?.length) requirePackage(needed, major, `deliveries to ${name}`)
  }
}

const plainHint = "for an emulator, put UseDevelopmentEmulator=true at the connection string's end: it has no TLS"

/** Longest wait for a broker to take leave, in real milliseconds. */
const closeMs = 2_000

/** Delivers to brokers: each event is one message, each queue, topic or hub has one connection. */
export function createBrokerChannels({ answerTimeout, ...brokers }: BrokerSettings) {
  /** By the destination's resource id in lower case. */
  const connections = new Map<string, Promise<Connection>>()
  const over = new AbortController()

  async function send(id: string, connect: () => Promise<Connection>, message: BrokerMessage): Promise<void> {
    const known = connections.get(id) ?? connect()
    connections.set(id, known)
    await (await known).send(message, AbortSignal.any([over.signal, AbortSignal.timeout(answerTimeout)]))
  }

  async function closeOne(id: string, connection: Promise<Connection>): Promise<void> {
    connections.delete(id)
    const closed = connection.then((one) => one.close())
    // What is no longer needed may end as it likes.
    await Promise.race([closed.catch(() => {}), pause(closeMs, undefined, { ref: false })])
  }

  return {
    /** The channel of a destination; a text says why there is none. */
    channel(kind: BrokerKind, subscription: EventSubscription, resourceId: string): Channel | string {
      const [, namespaceId = '', namespace = '', entity = ''] = /^(.*\/([^/]+))\/[^/]+\/([^/]+)$/.exec(resourceId) ?? []
      const broker = brokers[kind]?.find(({ resourceId: id = namespaceId }) => sameName(id, namespaceId))
      const { name, connect } = kinds[kind]
      if (!broker) {
        return (
          `The emulator has no connection string of the ${name} namespace ${namespace}: ` +
          `give one in ${kind}, in the configuration or the options.`
        )
      }
      const path = encodeURIComponent(entity)
      const url = new URL(`sb://${encodeURIComponent(namespace)}.servicebus.windows.net/${path}`)
      const asked = new URL(`/${path}`, endpointOf(broker.connectionString) ?? url)
      const isPlain = /UseDevelopmentEmulator=true/i.test(broker.connectionString)
      const hint = isLoopback(asked.hostname) && !isPlain ? plainHint : undefined
      const open = () => connect(broker.connectionString, entity, answerTimeout)
      return {
        ...{ url, shownUrl: resourceId, secretHeaders: secretHeadersOf(subscription) },
        async prepare([pending]) {
          const { message, text: body, headers } = brokerMessageOf(kind, subscription, pending)
          return {
            ...{ headers, body },
            async send(): Promise<WebhookResult> {
              const started = performance.now()
              const sent = { target: asked.href }
              try {
                await send(resourceId.toLowerCase(), open, message)
                // What the REST interfaces of both brokers answer to a message that they take.
                return { ...sent, durationMs: performance.now() - started, status: 201 }
              } catch (error) {
                return { ...sent, durationMs: performance.now() - started, failure: failureOf(error, hint) }
              }
            },
          }
        },
      }
    },
    /** Closes the connections of destinations whose resource ids are not among these. */
    closeOthers(resourceIds: () => readonly string[]): void {
      if (connections.size === 0) return
      const kept = new Set(resourceIds().map((id) => id.toLowerCase()))
      for (const [id, connection] of connections) if (!kept.has(id)) void closeOne(id, connection)
    },
    async close(): Promise<void> {
      over.abort()
      await Promise.all([...connections].map(([id, connection]) => closeOne(id, connection)))
    },
  }
}

const endpointOf = (connectionString: string) => /(?:^|;)\s*Endpoint=([^;]+)/i.exec(connectionString)?.[1]

/** Codes of the SDKs' errors, without `Error` at the end: Service Bus has names of its own, Event Hubs those of the client of AMQP. */
const outcomes: Readonly<Record<string, FailureOutcome>> = {
  MessagingEntityNotFound: 'NotFound',
  // Of amqp:not-found, where its description is not Azure's.
  ServiceCommunicationProblem: 'NotFound',
  ServiceCommunication: 'NotFound',
  MessagingEntityDisabled: 'Disabled',
  QuotaExceeded: 'Full',
  UnauthorizedAccess: 'Unauthorized',
  Unauthorized: 'Unauthorized',
  ServiceBusy: 'Busy',
  ServerBusy: 'Busy',
  SenderBusy: 'Busy',
  InternalServer: 'Busy',
  InsufficientCredit: 'Busy',
  MessageSizeExceeded: 'PayloadTooLarge',
  MessageTooLarge: 'PayloadTooLarge',
  Argument: 'BadRequest',
  ArgumentOutOfRange: 'BadRequest',
  InvalidField: 'BadRequest',
  Decode: 'BadRequest',
  ServiceTimeout: 'TimedOut',
  OperationTimeout: 'TimedOut',
  ServiceUnavailable: 'TimedOut',
  ENOTFOUND: 'ResolutionError',
  EAI_AGAIN: 'ResolutionError',
  InvalidOperation: 'Aborted',
}

/** What is not in the table came from the connection. */
function failureOf(error: unknown, hint?: string): NonNullable<WebhookResult['failure']> {
  const message = messageOf(error)
  if (error instanceof TypeError) return { outcome: 'Aborted', message }
  if (nameOf(error) === 'AbortError') return { outcome: 'TimedOut', message: 'the broker did not answer' }
  // Service Bus puts the code of an error that it has no name for before the message.
  const given = codeOf(error)
  const code = (given === 'GeneralError' ? /^\w+/.exec(message)?.[0] : given)?.replace(/Error$/, '') ?? ''
  // An entity with sessions refuses a message without one, as an operation that is not allowed.
  if (code === 'InvalidOperation' && /session/i.test(message)) return { outcome: 'SessionQueueNotSupported', message }
  const outcome = outcomes[code] ?? 'SocketError'
  return { outcome, message, ...(outcome === 'SocketError' && { hint }) }
}
