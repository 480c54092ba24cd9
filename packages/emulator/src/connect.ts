/** Which metadata and ingress a binding gets that is connected to the emulator, and which binding is refused. */
import { checkNames } from '../../../src/support/process/option-checks.ts'
import type { Ingress } from './delivery/send/ingress.ts'
import type { TopicView } from './model/resource-views.ts'
import type { Client } from './model/resources/resource.ts'

/** The part of a binding that {@link EventGridEmulator.connect} calls: the library's `Binding` has it. */
export interface Connectable {
  /** Where the binding listens, once it does. */
  address(): { readonly port: number } | undefined
  /** Where it looks for Azure. A binding without it is not asked. */
  endpoints?(): { readonly resourceManager?: string }
  init(component: { readonly name: string; readonly properties: Readonly<Record<string, string>> }): Promise<void>
}

/** What a binding is connected to. */
export interface ConnectOptions {
  /** Name of the custom topic, for both sides. @default the first topic */
  readonly topic?: string
  /** The component's name, from which the event subscription takes its name. @default the topic's name */
  readonly name?: string
  /** Further metadata fields, and fields in the place of the emulator's. An empty value leaves a field out. */
  readonly metadata?: Readonly<Record<string, string>>
}

interface Emulator extends Pick<Client, 'tenantId' | 'clientId' | 'clientSecret'> {
  readonly subscriptionId: string
  readonly endpoints: { readonly resourceManager: string }
  topic(name?: string): TopicView
}

/** The bindings that are connected, by their host names. */
export type Connected = Map<string, { readonly binding: Connectable; isListening(): boolean }>

/** Initialises a binding for a custom topic. Its ingress is added before `init`, which runs the handshake. */
export async function connectBinding(
  emulator: Emulator,
  binding: Connectable,
  options: ConnectOptions,
  { addIngress, connected }: { readonly addIngress: (ingress: Ingress) => void; readonly connected: Connected },
): Promise<TopicView> {
  checkNames('the options of connect', options, ['topic', 'name', 'metadata'])
  if (typeof binding?.init !== 'function' || typeof binding.address !== 'function') {
    throw new TypeError('connect takes a Binding: write emulator.connect(binding, { topic })')
  }
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const topic = emulator.topic(options.topic)
  checkEndpoints(emulator, binding.endpoints?.())
  const { name = topic.name, metadata } = options
  const host = `${name.toLowerCase()}.example.com`
  const other = connected.get(host)
  if (other && other.binding !== binding && other.isListening()) {
    throw new RangeError(
      `another binding is connected as ${name}, and gets the events of this event subscription: close it first, ` +
        `or give this one an event subscription of its own: emulator.connect(binding, { topic, name: '${name}2' })`,
    )
  }
  let isStarting = true
  connected.set(host, { binding, isListening: () => isStarting || binding.address() !== undefined })
  addIngress(({ hostname, pathname, search }) => {
    const port = hostname === host ? binding.address()?.port : undefined
    return port === undefined ? undefined : `http://127.0.0.1:${port}${pathname}${search}`
  })
  const properties = {
    ...{ tenantId, subscriptionId, clientId, clientSecret },
    scope: topic.id,
    subscriberEndpoint: `https://${host}/api/events`,
    handshakePort: '0',
    topicEndpoint: topic.endpoint,
    accessKey: topic.key,
    ...metadata,
  }
  try {
    await binding.init({ name, properties })
  } finally {
    isStarting = false
  }
  return topic
}

/** Throws a TypeError for a binding that looks for Azure elsewhere than at this emulator. */
function checkEndpoints({ endpoints }: Emulator, given: ReturnType<NonNullable<Connectable['endpoints']>> | undefined) {
  if (!given) return
  const fix = 'make it with new Binding({ endpoints: emulator.endpoints })'
  const { resourceManager: url } = given
  if (url === undefined) {
    if (isProxied(process.env)) return
    throw new TypeError(`the binding would look for Azure: ${fix}`)
  }
  // Loopback has several names; an emulator has one port.
  const portOf = (text: string) => URL.parse(text)?.port
  if (portOf(url) === portOf(endpoints.resourceManager)) return
  throw new TypeError(
    `the binding was made for another emulator: it looks for Azure at ${url}, and this one is at ${endpoints.resourceManager}; ${fix}`,
  )
}

/** The emulator's own proxy answers for Azure's host names. */
const isProxied = ({ HTTPS_PROXY, https_proxy, ALL_PROXY, all_proxy }: NodeJS.ProcessEnv): boolean =>
  Boolean(HTTPS_PROXY || https_proxy || ALL_PROXY || all_proxy)
