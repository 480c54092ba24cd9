/** Plays a recording of Azure again at an emulator, and tells where its answers differ from those on record. */
import { z } from 'zod'
import { credentialOf, send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import type { EventGridEmulator } from '../../src/index.ts'

const texts = z.record(z.string(), z.string())
const exchange = z.strictObject({
  asked: z.enum(['arm', 'topic', 'namespace', 'storage']),
  of: z.string().optional(),
  method: z.string(),
  path: z.string().startsWith('/'),
  headers: texts.optional(),
  body: z.unknown().optional(),
  credential: z.literal('other').optional(),
  polls: z.literal(true).optional(),
  status: z.int(),
  answerHeaders: texts,
  answer: z.unknown().optional(),
})
/** The form that `npm run test:azure -- --record DIR` writes. */
export const recordingForm = z.strictObject({
  fact: z.string(),
  asks: z.string(),
  /** Where it was recorded, if not by a probe. */
  source: z.string().optional(),
  seenAt: z.enum(['Azure', 'emulator']),
  date: z.iso.date(),
  exchanges: z.array(exchange).min(1),
})
export type PlayedRecording = z.infer<typeof recordingForm>
type Exchange = z.infer<typeof exchange>

/** What stands for the suffix of a run. */
const suffix = 'recorded'
const wholeBody = /^\(\d+ (?:bytes|characters)\)$/

/** Why a recording can't be played: what it needs was not kept, or is not of the emulator. */
export function unplayable({ exchanges }: PlayedRecording): string | undefined {
  if (exchanges.some(({ credential }) => credential === 'other')) return 'a credential of its own is not on record'
  if (exchanges.some(({ body }) => typeof body === 'string' && wholeBody.test(body)))
    return 'a long body is not on record'
  if (exchanges.some(({ asked, path }) => asked === 'storage' || /Microsoft\.Storage/i.test(path)))
    return 'the emulator has no storage accounts'
  return undefined
}

/** The differences, each in one line; none where the emulator answers as on record. */
export async function playRecording({ exchanges }: PlayedRecording): Promise<readonly string[]> {
  const emulator = await startEmulator({
    clients: [{ roles: [{ role: 'Owner' }] }],
    topics: [
      { name: `egb-cloud-${suffix}`, inputSchema: 'CloudEventSchemaV1_0' },
      { name: `egb-grid-${suffix}`, inputSchema: 'EventGridSchema' },
    ],
    domains: [{ name: `egb-domain-${suffix}`, inputSchema: 'CloudEventSchemaV1_0' }],
    namespaces: [{ name: `egb-space-${suffix}`, topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
    ...(exchanges.some(({ answerHeaders }) => 'retry-after' in answerHeaders) && { operationRetryAfter: 10 }),
  })
  await openWebhook(emulator)
  const found: string[] = []
  const state: Played = { operation: undefined, lockToken: undefined }
  for (const [at, one] of exchanges.entries()) {
    const answer = await play(emulator, one, state)
    const where = `${at + 1}. ${one.method} ${one.path}`
    if (answer.status !== one.status) found.push(`${where}: status ${one.status} on record, ${answer.status} here`)
    for (const [name, value] of Object.entries(one.answerHeaders)) {
      const here = String(answer.headers[name] ?? '')
      // The query of such a URL is signed in Azure.
      const path = (text: string) =>
        /^(location|azure-asyncoperation)$/.test(name) ? (text.split('?')[0] ?? '') : text
      if (!fits(path(value), path(here).replace(emulator.endpoints.resourceManager, '{arm}')))
        found.push(`${where}: header ${name} ${value} on record, ${here} here`)
    }
    found.push(...bodyDifferences(one.answer, answer.body, `${where}: body`))
    await emulator.idle()
  }
  return found
}

interface Played {
  /** URL of the status of the operation that was begun last. */
  operation: string | undefined
  lockToken: string | undefined
}

async function play(emulator: EventGridEmulator, one: Exchange, state: Played) {
  const filled = (text: string) =>
    text
      .replaceAll('{subscription}', emulator.subscriptionId)
      .replaceAll('{group}', 'rg')
      .replaceAll('{suffix}', suffix)
      .replaceAll('{public}', 'https://webhook.example.com')
      .replaceAll('{arm}', emulator.endpoints.resourceManager)
  const body =
    one.body === undefined ? undefined : filled(typeof one.body === 'string' ? one.body : JSON.stringify(one.body))
  const sent = {
    method: one.method,
    headers: {
      ...(one.asked === 'arm' && { 'content-type': 'application/json' }),
      ...(await credentialHeaders(emulator, one)),
      ...one.headers,
    },
    ...(body !== undefined && { body: body.replaceAll('"{secret}"', JSON.stringify(state.lockToken ?? '{secret}')) }),
  }
  const name = filled(one.of ?? '')
  const folder = { arm: '', storage: '', topic: `/topics/${name}`, namespace: `/namespaces/${name}` }[one.asked]
  const { pathname = '', search = '' } = one.polls && state.operation ? new URL(state.operation) : {}
  const answer = await send(emulator, one.polls ? `${pathname}${search}` : `${folder}${filled(one.path)}`, sent)
  const operation = answer.headers['azure-asyncoperation'] ?? answer.headers.location
  if (typeof operation === 'string') state.operation = operation
  state.lockToken = /"lockToken":"([^"]+)"/.exec(JSON.stringify(answer.body))?.[1] ?? state.lockToken
  return answer
}

async function credentialHeaders(emulator: EventGridEmulator, { asked, of = '', path }: Exchange) {
  if (asked === 'topic') {
    const name = of.replaceAll('{suffix}', suffix)
    const { key } = name.includes('domain') ? emulator.domain(name) : emulator.topic(name)
    return path.includes('aeg-sas-key=') ? {} : { 'aeg-sas-key': key }
  }
  const scope = asked === 'namespace' ? 'https://eventgrid.azure.net/.default' : 'https://management.azure.com/.default'
  if (asked === 'namespace') return { authorization: `SharedAccessKey ${emulator.namespaceTopic().key}` }
  return { authorization: `Bearer ${(await credentialOf(emulator).getToken(scope)).token}` }
}

/** Members of the answer on record that are missing or other here. Those that only the emulator has are no difference. */
function bodyDifferences(recorded: unknown, here: unknown, where: string): readonly string[] {
  if (recorded === undefined) return []
  if (typeof recorded === 'object' && recorded !== null && typeof here === 'object' && here !== null) {
    return Object.entries(recorded).flatMap(([name, value]) => {
      const other: unknown = Reflect.get(here, name)
      return isMoment(name, value, other) || isTagOfRun(name, value)
        ? []
        : bodyDifferences(value, other, `${where}.${name}`)
    })
  }
  const same =
    typeof recorded === 'string' && typeof here === 'string' ? fits(recorded, here) : Object.is(recorded, here)
  return same ? [] : [`${where}: ${JSON.stringify(recorded)} on record, ${JSON.stringify(here)} here`]
}

/** Is it a time at which something happened, in both? The time of an event, `time`, is not. */
const isMoment = (name: string, ...values: readonly unknown[]) =>
  /(?:at|utc)$/i.test(name) && values.every((value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value))

/** What a run makes before its probes has its tag, and what the test declares has none. */
const isTagOfRun = (name: string, value: unknown) =>
  name === 'tags' && JSON.stringify(value)?.includes('"eventgrid-binding-test-azure"')

/** Whether a text is one on record, in which placeholders stand for anything. */
function fits(recorded: string, here: string): boolean {
  const parts = recorded.split(
    /\{(?:guid|secret|token|key|host|arm|public|time|number|address|account|subscription|group|suffix)\}/,
  )
  const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('.*')
  return new RegExp(`^${pattern}$`, 's').test(here)
}
