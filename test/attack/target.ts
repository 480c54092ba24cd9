import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { Binding, type BindingOptions, type ReceivedEvent } from '../../src/index.ts'
import { credentialFrom } from '../listener/open-listener.ts'
import { credentialOf } from '../support/azure-clients.ts'
import { captureLog } from '../support/captured-log.ts'

/** One emulator for all tests of a file. */
export function useEmulator() {
  let emulator: EventGridEmulator | undefined
  let credential: BindingOptions['credential']
  beforeAll(async () => {
    emulator = await EventGridEmulator.start()
    credential = credentialOf(emulator)
  })
  afterAll(() => emulator?.close())
  return () => {
    if (!emulator || !credential) throw new Error('the emulator is not up')
    return { emulator, credential }
  }
}

export interface TargetOptions {
  /** Bring up the event subscription too; else the binding goes on waiting for a token of Entra, which takes no time. @default false */
  readonly standing?: boolean
  /** Metadata fields over the usual ones; undefined leaves one out. */
  readonly fields?: Readonly<Record<string, string | undefined>>
  readonly endpoints?: { readonly authorityHost: string; readonly ca: string }
  readonly onEvent?: (event: ReceivedEvent) => unknown
}

/** A binding under attack, its port open to anybody. */
export async function openTarget(world: ReturnType<ReturnType<typeof useEmulator>>, options: TargetOptions = {}) {
  const { emulator, credential } = world
  const log = captureLog()
  const handled: ReceivedEvent[] = []
  const topic = emulator.topic()
  const fields = {
    tenantId: emulator.tenantId,
    subscriptionId: emulator.subscriptionId,
    clientId: emulator.clientId,
    clientSecret: emulator.clientSecret,
    subscriberEndpoint: 'https://orders.example.com/hooks/events?code=marked-query',
    handshakePort: '0',
    listenAddress: '127.0.0.1',
    scope: topic.id,
    eventSubscriptionName: 'orders',
    ...options.fields,
  }
  const binding = new Binding({
    endpoints: {
      ...emulator.endpoints,
      authorityHost: options.endpoints?.authorityHost ?? emulator.endpoints.authorityHost,
      ca: `${emulator.ca}\n${options.endpoints?.ca ?? ''}`,
    },
    credential: options.standing ? credential : { getToken: () => new Promise(() => {}) },
    logger: log,
    async onEvent(event) {
      await options.onEvent?.(event)
      handled.push(event)
    },
  })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname, search }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}${search}`)
  const metadata = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  await binding.init(metadata, { subscription: options.standing ? 'wait' : 'background' })
  const port = binding.address()?.port ?? 0
  const before = log.lines.length
  return {
    binding,
    log,
    handled,
    port,
    scope: topic.id,
    clientSecret: emulator.clientSecret,
    exchange: (bytes: string | Buffer) => exchange(port, bytes),
    post: (headers: Readonly<Record<string, string>>, body = eventText('1')) =>
      fetch(`http://127.0.0.1:${port}/api/events`, { method: 'POST', body, headers: { ...eventHeaders, ...headers } }),
    /** Lines of the log since the attack began. */
    lines: () => log.lines.slice(before).filter(({ level }) => level !== 'debug'),
  }
}

export type Target = Awaited<ReturnType<typeof openTarget>>

/** What every row of the table asks for: nothing handled, one line of the log, and nothing in it that was secret. */
export function expectNoEffect(target: Target, secrets: readonly string[] = []): void {
  expect(target.handled).toEqual([])
  expectOneLine(target, secrets)
}

export function expectOneLine(target: Target, secrets: readonly string[] = []): void {
  expect(target.lines().map(({ message }) => message)).toHaveLength(1)
  const text = target.log.text()
  for (const secret of [target.clientSecret, tokenOf(target.clientSecret, target.scope), 'marked', ...secrets]) {
    if (secret !== '') expect(text).not.toContain(secret)
  }
  // One line is one line, whatever was sent.
  expect(JSON.stringify(target.lines())).not.toMatch(/\\n|\\r|\\u00|\\u20/)
}

/** The delivery credential that a secret gives. */
export const tokenOf = (secret: string, scope: string, name?: string) => credentialFrom(secret, scope, name).text

export const tokenHeader = 'X-EventGrid-Binding-Token'

export const eventHeaders = {
  'content-type': 'application/cloudevents+json; charset=utf-8',
  'aeg-subscription-name': 'ORDERS',
  'aeg-event-type': 'Notification',
  'aeg-delivery-count': '0',
}

export const eventText = (id: string, more: object = {}) =>
  JSON.stringify({ specversion: '1.0', id, source: '/shop', type: 'Shop.Order.Placed', data: { id }, ...more })

/** A request of any lines, its body counted. */
export const request = (firstLine: string, headers: readonly string[], body = '') =>
  `${[firstLine, 'host: x', ...headers, `content-length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`

/** Sends bytes as they are and gives what comes back until the connection ends. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await open(port)
  socket.write(bytes)
  return socket.ended
}

/** A connection, once it is open; `ended` is what came until it ended. */
export async function open(port: number): Promise<Socket & { readonly ended: Promise<string> }> {
  const socket = connect({ host: '127.0.0.1', port })
  socket.setEncoding('latin1')
  let received = ''
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (chunk: string) => {
      received += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
  })
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => {
    socket.once('connect', resolve)
    socket.once('close', resolve)
  })
  return Object.assign(socket, { ended })
}

/** The status of each answer in what a connection gave. */
export const statuses = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code))
