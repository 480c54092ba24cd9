/** The rules of values: words, numbers, lists, durations, secrets, ids and what pull refuses. */

import { isIP } from 'node:net'
import { z } from 'zod'
import type { Side } from '../../core/component.ts'
import { Secret } from '../../core/secret.ts'
import { readJson } from '../../support/text/json-text.ts'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { BrokenRule } from './faults.ts'
import { parseScope, resourceType } from './scope.ts'

/**
 * One of a few words, compared without regard to letter case; gives the word as we spell it.
 *
 * @throws BrokenRule that names them all, and the nearest
 */
export function parseChoice<const Word extends string>(text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new BrokenRule(`must be ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}`, didYouMean(text, words))
}

/**
 * A whole number in plain digits: no sign, no leading zero.
 *
 * @param what the word for the value in the rule
 * @throws BrokenRule for any other text, and for a number outside the limits
 */
export function parseInteger(text: string, atLeast: number, atMost: number, what = 'whole number'): number {
  const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
  if (value >= atLeast && value <= atMost) return value
  throw new BrokenRule(`must be a ${what} from ${atLeast} to ${atMost}, without sign or leading zero`)
}

/**
 * A list: texts between commas, or a JSON array of strings (needed where an item holds a comma). Items are trimmed
 * between commas and kept as they are in JSON.
 *
 * @throws BrokenRule where the list is empty, holds an empty item, or is JSON of another form
 */
export function parseList(text: string): readonly string[] {
  const items = text.trimStart().startsWith('[') ? jsonItems(text) : text.split(',').map((item) => item.trim())
  if (items.length === 0) throw new BrokenRule('must hold at least one item', 'leave the field out instead')
  if (items.includes('')) throw new BrokenRule('must not hold an empty item')
  return items
}

/** The kind of a field that takes a list. */
export const list = { type: 'list', parse: parseList } as const

function jsonItems(text: string): readonly string[] {
  const items = z.array(z.string()).safeParse(readJson(text))
  if (!items.success) throw new BrokenRule('must be a JSON array of strings', 'write it like ["one", "two"] or one,two')
  return items.data
}

const unitsInMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

interface DurationLimits {
  readonly atLeast: string
  readonly atMost: string
  /** The unit of which the duration has to be a whole number. @default none */
  readonly wholes?: 'seconds' | 'minutes'
}

/**
 * A duration as Dapr writes it (Go's form): `25s`, `2m`, `1h30m`, `1.5s`, `500ms`. Gives milliseconds, rounded.
 *
 * @throws BrokenRule for a text of another form, or a duration outside the limits
 */
export function parseDuration(text: string, { atLeast, atMost, wholes }: DurationLimits): number {
  const ms = inMilliseconds(text)
  const isWithin = ms >= inMilliseconds(atLeast) && ms <= inMilliseconds(atMost)
  const unit = wholes === undefined ? 1 : inMilliseconds(wholes === 'seconds' ? '1s' : '1m')
  if (isWithin && ms % unit === 0) return ms
  const fix = Number.isNaN(ms) ? `write a number with its unit, as in "${atMost}"` : undefined
  throw new BrokenRule(`must be a duration of ${wholes ? `whole ${wholes}, ` : ''}${atLeast} to ${atMost}`, fix)
}

/** `NaN` for a text of another form. */
function inMilliseconds(text: string): number {
  const parts = [...text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|s)/g)]
  if (text === '' || parts.map(([part]) => part).join('') !== text) return Number.NaN
  return Math.round(parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (unitsInMs[unit] ?? 0), 0))
}

/** The kind of a field that takes a whole number: its format in words, and its rule. */
export const integer = (atLeast: number, atMost: number) => ({
  type: `integer, ${atLeast}-${atMost}`,
  parse: (text: string) => parseInteger(text, atLeast, atMost),
})

export const duration = (atLeast: string, atMost: string) => (text: string) => parseDuration(text, { atLeast, atMost })

/** The kind of a field that takes any text. */
export const anyText = { type: 'string', parse: (text: string) => text } as const

const matching = (pattern: RegExp, rule: string) => (text: string) => {
  if (pattern.test(text)) return text
  throw new BrokenRule(rule)
}

/** Only the signs of a tenant's id or domain name: the value becomes part of a URL. */
export const parseTenantId = matching(
  /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/,
  'must be an id or a domain name: letters, digits, dots and hyphens',
)

/** The kind of a field that takes an id. */
export const id = {
  type: 'string',
  parse: matching(/^[^\s/?#\p{C}]{1,256}$/u, 'must be an id, without spaces or slashes'),
} as const

/** Azure Storage: naming-and-referencing-containers. */
export const parseContainerName = matching(
  /^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
  'must be 3 to 63 lower-case letters, digits and single hyphens',
)

/**
 * A secret goes into an HTTP header or form, so a control character or a byte order mark can only be an accident: the
 * last line break of a file, mostly.
 */
export function parseSecret(text: string): Secret {
  if (!/[\p{Cc}\uFEFF]/u.test(text)) return new Secret(text)
  const fix = 'the end or the beginning of a file it was read from?'
  throw new BrokenRule('must not hold a line break, a byte order mark or another control character', fix)
}

/** A key goes into a header: with a character that was copied along, such as `…`, no request could be sent. */
export function parseKey(text: string): Secret {
  const key = parseSecret(text)
  if (/^[ -~]*$/.test(text)) return key
  throw new BrokenRule('must hold ASCII characters only', 'copy the key anew')
}

export function parseDeliveryTokens(text: string): readonly Secret[] {
  const tokens = parseList(text)
  // HKDF stretches nothing: a source that can be guessed gives a token that can be guessed.
  if (tokens.some((token) => token.length < 16 || token.length > 1024)) {
    throw new BrokenRule('must hold tokens of 16 to 1024 characters', 'make one with: openssl rand -base64 32')
  }
  if (tokens.length > 10) throw new BrokenRule('must hold at most 10 tokens')
  return tokens.map((token) => new Secret(token))
}

/** 0 takes a free port: for the library alone. */
export const parsePort = (text: string): number => (text === '0' ? 0 : parseInteger(text, 1, 65_535, 'port'))

export function parseListenAddress(text: string): string {
  if (isIP(text)) return text
  throw new BrokenRule('must be an IP address', 'write it without port and brackets, like 0.0.0.0 or ::')
}

export function parseStorageAccount(text: string): string {
  const scope = parseScope(text)
  if (resourceType(scope) === 'microsoft.storage/storageaccounts') return scope.id
  const fix = 'it ends with /providers/Microsoft.Storage/storageAccounts/{name}'
  throw new BrokenRule('must be the resource id of a storage account', fix)
}

/** In minutes, as Azure's own field counts: eventTimeToLiveInMinutes. */
export function parseTimeToLive(text: string): number {
  return parseDuration(text, { atLeast: '1m', atMost: '24h', wholes: 'minutes' }) / 60_000
}

/** In seconds. */
export function parseLockDuration(text: string): number {
  return parseDuration(text, { atLeast: '60s', atMost: '300s', wholes: 'seconds' }) / 1000
}

const toPush = 'take it out, or set deliveryMode to push'

/** A setting that a Queue event subscription does not have (Event Grid namespaces: event subscriptions). */
export function refusedByPull(): never {
  throw new BrokenRule('is not a setting of pull delivery', toPush)
}

/** Event Grid namespaces take and give CloudEvents alone. */
export function onlyCloudEvents(text: string): void {
  if (text.toLowerCase() === 'eventgridschema') {
    throw new BrokenRule('must be CloudEventSchemaV1_0 with deliveryMode pull', toPush)
  }
}

/** The rule of a setting that `default` takes back. */
export const unlessDefault = (parse: (text: string) => unknown) => (text: string) =>
  text.toLowerCase() === 'default' || parse(text)

/** The sides that Dapr's `direction` names: a list, in any order. */
export function parseDirection(text: string): ReadonlySet<Side> {
  try {
    return new Set(parseList(text).map((word) => parseChoice(word, ['input', 'output'])))
  } catch {
    throw new BrokenRule('must be "input", "output" or "input, output"')
  }
}
