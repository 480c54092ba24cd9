/** A broker of AMQP 1.0 on rhea: nodes that keep what they get, for receivers of Azure's SDKs, and `$cbs`, where these sign in. */
import { once } from 'node:events'
import rhea, { type Connection, type EventContext, type Message, type Sender } from 'rhea'

/** What the broker refuses a message or a token with. */
export interface Refusal {
  /** `amqp:link:message-size-exceeded`. */
  readonly condition: string
  readonly description: string
}

/** A broker of a test. */
export interface Broker {
  /** Of its emulator; both SDKs speak plain AMQP then. */
  readonly connectionString: string
  /** Connections that are open. */
  readonly connections: ReadonlySet<Connection>
  /** Audiences that tokens were put for. */
  readonly audiences: string[]
  /** Says how a message for a node is answered; undefined: it is taken, 'silence': it is not answered. */
  answer: (node: string) => Refusal | 'silence' | undefined
  /** The status of `$cbs`. */
  tokenStatus: number
  /** Cuts all connections and takes no new ones until `listen`. */
  cut(): Promise<void>
  listen(): Promise<void>
}

const nodeOf = (address: string) => address.split('/')[0] ?? ''
/** Some clients name a node by its URL. */
const addressOf = (terminus: unknown) =>
  typeof terminus === 'object' && terminus && 'address' in terminus
    ? String(terminus.address).replace(/^amqps?:\/\/[^/]+\//, '')
    : ''

/** Starts a broker that has these queues, topics and hubs; `cut` ends it. */
export async function openBroker(...nodes: readonly string[]): Promise<Broker> {
  const stored = new Map<string, Buffer[]>(nodes.map((name) => [name, []]))
  const readers = new Map<string, Sender>()
  const replies = new Map<Connection, Sender>()
  const connections = new Set<Connection>()
  const container = rhea.create_container({ id: 'broker' })
  container.sasl_server_mechanisms.enable_anonymous()
  let server = listenAt(0)
  const { port } = await bound()

  function listenAt(at: number) {
    return container.listen({ port: at, host: '127.0.0.1', receiver_options: { autoaccept: false } })
  }

  async function bound() {
    await once(server, 'listening')
    const address = server.address()
    return { port: typeof address === 'object' && address ? address.port : 0 }
  }

  const broker: Broker = {
    connectionString:
      `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=Root;SharedAccessKey=c2VjcmV0LWtleQ==;` +
      'UseDevelopmentEmulator=true;',
    connections,
    audiences: [],
    answer: () => undefined,
    tokenStatus: 202,
    async cut() {
      const closed = once(server, 'close')
      server.close()
      // rhea's types leave its socket out.
      for (const connection of connections) Reflect.get(connection, 'socket').destroy()
      connections.clear()
      await closed
    },
    async listen() {
      server = listenAt(port)
      await bound()
    },
  }

  container.on('connection_open', ({ connection }: EventContext) => void connections.add(connection))
  for (const end of ['connection_close', 'disconnected']) {
    container.on(end, ({ connection }: EventContext) => void connections.delete(connection))
  }
  // An error without a listener ends the process.
  for (const error of [
    'connection_error',
    'session_error',
    'receiver_error',
    'sender_error',
    'error',
    'protocol_error',
  ]) {
    container.on(error, () => {})
  }
  container.on('receiver_open', ({ receiver }: EventContext) => {
    const address = addressOf(receiver?.target)
    receiver?.set_source({ address: addressOf(receiver.source) })
    receiver?.set_target({ address })
    if (address === '$cbs' || stored.has(address)) return
    const description = `The messaging entity 'sb://127.0.0.1/${address}' could not be found.`
    receiver?.close({ condition: 'amqp:not-found', description })
  })
  container.on('sender_open', ({ sender, connection }: EventContext) => {
    const address = addressOf(sender?.source)
    sender?.set_source({ address })
    sender?.set_target({ address: addressOf(sender.target) })
    if (!sender) return
    if (address === '$cbs') replies.set(connection, sender)
    else readers.set(nodeOf(address), sender)
  })
  container.on('sendable', () => readers.forEach(handOut))
  container.on('message', ({ message, delivery, receiver, connection }: EventContext) => {
    const node = addressOf(receiver?.target)
    if (!message || !delivery) return
    if (node === '$cbs') {
      delivery.accept()
      const { name } = message.application_properties ?? {}
      broker.audiences.push(String(name))
      replies.get(connection)?.send({
        ...{ correlation_id: message.message_id ?? 0, body: '' },
        application_properties: { 'status-code': broker.tokenStatus, 'status-description': 'as the test says' },
      })
      return
    }
    const answer = broker.answer(node)
    if (answer === 'silence') return
    if (answer) return delivery.reject({ ...answer })
    delivery.accept()
    stored.get(node)?.push(...encodedMessages(message))
    readers.forEach(handOut)
  })

  function handOut(reader: Sender, node: string): void {
    const kept = stored.get(node) ?? []
    while (kept.length > 0 && reader.is_open() && reader.sendable()) {
      const [first] = kept.splice(0, 1)
      if (first) reader.send(first, undefined, 0)
    }
  }

  return broker
}

/** The messages of a transfer. A batch is a message of Azure's own format, whose body is messages; rhea leaves such a one encoded. */
function encodedMessages(message: Message | Buffer): readonly Buffer[] {
  if (!Buffer.isBuffer(message)) return [rhea.message.encode(message)]
  const { content }: { content: Buffer | Buffer[] } = rhea.message.decode(message).body
  return [content].flat()
}
