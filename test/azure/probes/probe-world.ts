/** What one probe asks with: names of its own, and its exchanges. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../../src/support/process/error-code.ts'
import { isRecord, readJson } from '../../../src/support/text/json-text.ts'
import { pause } from '../../../src/support/time/clock.ts'
import type { Made, MadeStorage } from '../make/made.ts'
import { container } from '../make/make-all.ts'
import { nameOf, tagName } from '../plan/names.ts'
import { runCommand } from '../product/run-command.ts'
import type { PushListener } from '../push/listener.ts'
import { createArm } from '../wire/arm.ts'
import type { Target } from '../wire/target.ts'
import { type Exchange, observed, type Send } from '../wire/wire.ts'
import { repeat, type WireClock } from '../wire/wire-clock.ts'
import type { ProbeQueue, ProbeWorld } from './probe.ts'

export interface WorldOptions {
  readonly target: Target
  readonly made: Made
  readonly send: Send
  readonly clock: WireClock
  readonly signal: AbortSignal
  /** Counts from 1; makes the names of this probe its own. */
  readonly number: number
  readonly listener: PushListener | undefined
  readonly application: string | undefined
  readonly saw: (exchange: Exchange) => void
  readonly learn: (secret: string) => void
  /** What commands of the product get as environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with each resource that has to be deleted after the probe. */
  readonly owns: (id: string) => void
  /** Called with what is to be done after the probe. */
  readonly after: (work: () => void) => void
}

/** The version of the storage services' API. */
const storageVersion = '2021-12-02'
const publishVersion = '2018-01-01'
const namespaceVersion = '2024-06-01'

export function createProbeWorld(options: WorldOptions): ProbeWorld {
  const { target, made, clock, signal, number, listener, application, saw, learn, owns, after, env } = options
  const { place, names } = made
  const send = observed(options.send, saw)
  const arm = createArm(target, send, { clock, signal })
  let count = 0
  const unique = () => `p${number}n${++count}${place.suffix}`
  const until: ProbeWorld['until'] = (limitMs, ask) => repeat({ clock, signal }, { everyMs: 2_000, limitMs }, ask)

  const storage = (): MadeStorage => {
    if (made.storage) return made.storage
    throw new Error('the probe names no need of storage')
  }
  const askStorage = (method: 'GET' | 'DELETE', base: string, path: string, query = '') =>
    send({
      ...{ asked: 'storage', method, url: `${base}${path}?${query}${query && '&'}${storage().signature}` },
      headers: { 'x-ms-version': storageVersion },
    })

  async function openQueue(): Promise<ProbeQueue> {
    const { id, queues } = storage()
    const name = unique()
    const path = `${id}/queueServices/default/queues/${name}`
    const put = async () => (await arm.send('PUT', path, { body: { properties: {} } })).status
    const status = await put()
    if (status >= 300) throw new Error(`no queue could be made: ${status}`)
    const came: unknown[] = []
    const take = async () => {
      const query = 'numofmessages=32&visibilitytimeout=86400'
      const { body } = await askStorage('GET', queues, `${name}/messages`, query)
      for (const [, text = ''] of String(body).matchAll(/<MessageText>([^<]*)<\/MessageText>/g)) {
        came.push(readJson(Buffer.from(text, 'base64').toString()) ?? text)
      }
      return came
    }
    return {
      name,
      destination: { endpointType: 'StorageQueue', properties: { resourceId: id, queueName: name } },
      events: take,
      async wait(wanted, limitMs = 120_000) {
        await until(limitMs, async () => ((await take()).length >= wanted ? true : undefined))
        return came
      },
      async remove() {
        await arm.send('DELETE', path)
      },
      async makeAgain() {
        // For half a minute or more Azure says that it is being deleted.
        await until(300_000, async () => ((await put()) < 300 ? true : undefined))
      },
    }
  }

  return {
    ...{ target, made, arm, send, clock, signal, unique, until, openQueue },
    application: application ?? '',
    container,
    subscriptionAt: (source, name = unique()) => `${source}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`,
    ownResource(type, prefix = 'egb-') {
      const id = `${names.eventGrid}/${type}/${prefix}${unique()}`
      owns(id)
      return id
    },
    tagged: (body = {}) => ({ location: place.location, tags: { [tagName]: place.suffix }, ...body }),
    openPush(pushOptions) {
      if (!listener) throw new Error('the probe names no need of push')
      return listener.open(pushOptions)
    },
    openForward(port) {
      if (!listener) throw new Error('the probe names no need of push')
      const { url, end } = listener.forward(port)
      after(end)
      return url
    },
    runCommand: (...args) => runCommand(args, { target, env, signal }),
    folder() {
      const folder = mkdtempSync(join(tmpdir(), 'eventgrid-binding-azure-'))
      after(() => rmSync(folder, { recursive: true, force: true }))
      return folder
    },
    async listBlobs(prefix) {
      const query = `restype=container&comp=list&prefix=${encodeURIComponent(prefix)}`
      const { body } = await askStorage('GET', storage().blobs, container, query)
      return [...String(body).matchAll(/<Name>([^<]+)<\/Name>/g)].map(([, name = '']) => name)
    },
    async readBlob(name) {
      return (await askStorage('GET', storage().blobs, `${container}/${name}`)).body
    },
    publish(topic, events, headers = {}) {
      const type = topic.id === made.grid.id ? 'application/json' : 'application/cloudevents-batch+json; charset=utf-8'
      return send({
        ...{ asked: 'topic', of: topic.name, method: 'POST', url: `${topic.endpoint}?api-version=${publishVersion}` },
        otherCredential: 'aeg-sas-key' in headers || 'authorization' in headers,
        headers: { 'content-type': type, 'aeg-sas-key': topic.key, ...headers },
        body: typeof events === 'string' ? events : JSON.stringify(events),
      })
    },
    async namespace(path, { body, headers = {}, limitMs } = {}) {
      if (!made.namespace) throw new Error('the probe names no need of a namespace')
      const { id, endpoint, key } = made.namespace
      const version = path.includes('api-version=')
        ? ''
        : `${path.includes('?') ? '&' : '?'}api-version=${namespaceVersion}`
      const answer = await send({
        ...{ asked: 'namespace', of: nameOf(id), method: 'POST', url: `${endpoint}/${path}${version}` },
        otherCredential: 'authorization' in headers,
        headers: { authorization: `SharedAccessKey ${key}`, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(limitMs !== undefined && { limitMs }),
      })
      for (const token of lockTokens(answer.body)) learn(token)
      return answer
    },
    pause: (ms) => pause(clock, ms, signal),
  }
}

/** They are worth something until their lock ends. */
const lockTokens = (body: unknown): readonly string[] =>
  isRecord(body) && Array.isArray(body.value)
    ? body.value.flatMap((one) =>
        isRecord(one) && isRecord(one.brokerProperties) && typeof one.brokerProperties.lockToken === 'string'
          ? [one.brokerProperties.lockToken]
          : [],
      )
    : []

/** Why an answer did not come, in one line. */
export const reasonOf = (error: unknown): string => messageOf(error).replace(/\s+/g, ' ').slice(0, 500)
