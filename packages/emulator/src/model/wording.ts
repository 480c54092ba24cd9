/** How Azure's messages spell times and statuses, and which advice the emulator adds to a refusal. */
import { STATUS_CODES } from 'node:http'

/** Azure's message, and what to do on the emulator after it. */
export const withAdvice = (message: string, advice: string) => `${message} Emulator: ${advice}.`

const configuration = 'its configuration (--config FILE, read again when it changes)'

/** The program prints what its user needs. Whoever starts the emulator in code has the same as its members. */
export const advice = {
  client: `it prints its clients with tenant and secret at its start; or add this client to clients in ${configuration}`,
  assertion: 'emulator.assertion(clientId), or POST /emulator/assertions, gives one that it takes for an hour',
  role: (role: string, clientId: string) =>
    `add the role to the roles of the client in ${configuration}: clients: [{ clientId: ${clientId}, roles: [${role}] }]`,
  provider: (subscriptionId: string) =>
    `set registered in ${configuration}: subscriptions: [{ id: ${subscriptionId}, registered: true }]`,
  scope:
    'it prints the scope of each topic at its start, and emulator.topic(NAME).id is it in code; or add the resource to ' +
    `topics, namespaces or subscriptions in ${configuration}`,
  key: `it prints the keys at its start; or set keys in ${configuration}`,
  namespaceCredential:
    'a namespace takes Authorization: SharedAccessKey KEY or a token of Entra, and none of the headers of topics',
  topic: `it prints the endpoint of each topic at its start; or add the topic in ${configuration}`,
  namespace: `it prints the endpoint of each namespace at its start; or add the namespace in ${configuration}`,
} as const

/**
 * A time with seven fraction digits, as Event Grid writes them into events and URLs.
 * @param at milliseconds since 1970
 */
export function preciseTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '0000Z')
}

/**
 * A time of RFC 3339, also with a space in it, as a namespace writes it: in UTC and without zeros at the end of its fraction
 * (recorded tests of Azure's SDKs). Undefined for any other value.
 */
export function utcTime(value: unknown): string | undefined {
  const shape = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/
  const [, date, time, fraction = '', zone] = (typeof value === 'string' && shape.exec(value)) || []
  const at = Date.parse(`${date}T${time}${zone?.toUpperCase()}`)
  if (Number.isNaN(at)) return undefined
  // The look behind keeps it in linear time: a run of zeros is tried once.
  const digits = fraction.replace(/(?<!0)0+$/, '')
  return new Date(at).toISOString().replace('.000Z', digits === '' ? 'Z' : `.${digits}Z`)
}

/** A time as Event Grid writes it into messages: `1/5/2026 2:07:09 PM`, in UTC. */
export function dotNetTime(at: number): string {
  // Not by Intl: its spaces depend on the version of ICU.
  const time = new Date(at)
  const hours = time.getUTCHours()
  const two = (part: number) => String(part).padStart(2, '0')
  const date = `${time.getUTCMonth() + 1}/${time.getUTCDate()}/${time.getUTCFullYear()}`
  return `${date} ${hours % 12 || 12}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())} ${hours < 12 ? 'AM' : 'PM'}`
}

/** Reads `1/5/2026 2:07:09 PM` as UTC, also `2:7:9 PM`, as Java's SDK writes it; undefined for any other text. */
export function parseDotNetTime(text: string): number | undefined {
  const parts = /^(\d{1,2})\/(\d{1,2})\/(\d{4}) (\d{1,2}):(\d{1,2}):(\d{1,2}) (AM|PM)$/i.exec(text.trim())
  if (!parts) return undefined
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 1 || hour > 12 || minute > 59 || second > 59)
    return undefined
  const hours = (hour % 12) + (parts[7]?.toUpperCase() === 'PM' ? 12 : 0)
  return Date.UTC(year, month - 1, day, hours, minute, second)
}

// Where .NET, in which Event Grid speaks, calls a status otherwise than the registry does.
const dotNetNames: Readonly<Record<number, string>> = {
  203: 'NonAuthoritativeInformation',
  413: 'RequestEntityTooLarge',
  414: 'RequestUriTooLong',
  416: 'RequestedRangeNotSatisfiable',
  418: '418',
  505: 'HttpVersionNotSupported',
}

/**
 * A status as Event Grid's messages name it, .NET's way: `ServiceUnavailable`; the number where .NET has no
 * name; `Unknown` without an answer.
 */
export function statusName(status: number | undefined): string {
  if (status === undefined) return 'Unknown'
  return dotNetNames[status] ?? STATUS_CODES[status]?.replaceAll(/[^A-Za-z]/g, '') ?? String(status)
}
