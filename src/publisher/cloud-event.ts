import { isDateTime } from './date-time.ts'
import { isPlainText, kindOf } from './json-kind.ts'

/** A rule for one attribute: what is wrong with its value, or `undefined`. */
type Rule = (value: unknown) => string | undefined

const text: Rule = (value) => {
  if (typeof value !== 'string') return `must be a string, not ${kindOf(value)}`
  if (value === '') return 'must not be empty'
  return isPlainText(value) ? undefined : 'must hold no control characters and no half of a surrogate pair'
}

const followedBy =
  (test: (value: string) => boolean, fault: string): Rule =>
  (value) =>
    text(value) ?? (typeof value === 'string' && test(value) ? undefined : fault)

const mediaType = followedBy((value) => /^[^\s/;,]+\/[^\s/;,]+/.test(value), 'must be a media type')

const base64: Rule = (value) =>
  typeof value !== 'string'
    ? `must be a string, not ${kindOf(value)}`
    : value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
      ? undefined
      : 'must be base64 with its padding'

const required: Readonly<Record<string, Rule>> = {
  specversion: (value) => (value === '1.0' ? undefined : 'must be "1.0"'),
  id: text,
  source: followedBy((value) => !/\s/.test(value), 'must be a URI reference, without spaces'),
  type: text,
}

const requiredRules = Object.entries(required)

const optional: Readonly<Record<string, Rule>> = {
  subject: text,
  time: followedBy((value) => isDateTime(value), 'must be a date and time of RFC 3339, as 2026-01-31T12:00:00Z'),
  datacontenttype: mediaType,
  dataschema: followedBy((value) => !/\s/.test(value), 'must be a URI'),
}

/** Extension attributes take the types of the CloudEvents type system that JSON can write; null is an attribute not set. */
const extension: Rule = (value) => {
  if (value === null || typeof value === 'boolean') return undefined
  if (typeof value === 'string') {
    return isPlainText(value) ? undefined : 'must hold no control characters and no half of a surrogate pair'
  }
  const isInteger = typeof value === 'number' && Number.isInteger(value) && Math.abs(value + 0.5) < 2 ** 31
  return isInteger ? undefined : `must be a string, a boolean or an integer of 32 bits, not ${kindOf(value)}`
}

/**
 * The faults of a CloudEvent 1.0 in JSON: one sentence for each attribute, which names it.
 * CloudEvents 1.0.2, sections 3 and 4; JSON event format, sections 2 and 3.
 */
export function faultsOfCloudEvent(event: Readonly<Record<string, unknown>>): readonly string[] {
  const faults: string[] = []
  const check = (name: string, rule: Rule) => {
    const fault = rule(event[name])
    if (fault !== undefined) faults.push(`${name} ${fault}`)
  }
  for (const [name, rule] of requiredRules) {
    if (Object.hasOwn(event, name)) check(name, rule)
    else faults.push(`${name} is missing`)
  }
  for (const name of Object.keys(event)) {
    if (Object.hasOwn(required, name) || name === 'data') continue
    const rule = Object.hasOwn(optional, name) ? optional[name] : undefined
    if (rule) {
      // An attribute that is not set may be written as null.
      if (event[name] !== null) check(name, rule)
    } else if (name === 'data_base64') check(name, base64)
    else if (/^[a-z0-9]+$/.test(name)) check(name, extension)
    else faults.push(`${JSON.stringify(name.slice(0, 64))} is not an attribute name: use a-z and 0-9 only`)
  }
  if (Object.hasOwn(event, 'data') && Object.hasOwn(event, 'data_base64')) {
    faults.push('data and data_base64 must not both be there')
  }
  return faults
}
