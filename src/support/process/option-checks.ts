/** The texts of a TypeError for an unknown option or a wrong value. */
import { isRecord } from '../text/json-text.ts'
import { suggestName } from '../text/nearest-name.ts'

/** Throws a TypeError for an invalid value of an option. Never called for `undefined`. */
export type OptionCheck = (name: string, value: unknown) => void

/**
 * The entries of an object of options. Error messages show no value, because it may be a secret.
 *
 * @throws TypeError for a value that is not an object, and for an unknown name
 */
export function checkNames(subject: string, value: unknown, known: readonly string[]) {
  if (!isRecord(value)) throw new TypeError(`${subject} must be an object with ${known.join(', ')}`)
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    throw new TypeError(`${subject}: there is no ${JSON.stringify(name.slice(0, 64))}; ${suggestName(name, known)}`)
  }
  return Object.entries(value)
}

/** As {@link checkNames}; each value except `undefined` must pass the check of its name, too. */
export function checkValues(subject: string, value: unknown, checks: Readonly<Record<string, OptionCheck>>): void {
  for (const [name, given] of checkNames(subject, value, Object.keys(checks))) {
    if (given !== undefined) checks[name]?.(name, given)
  }
}

/** A check by a predicate; `what` is the predicate in words. */
export function mustBe(what: string, is: (value: unknown) => boolean): OptionCheck {
  return (name, value) => {
    if (!is(value)) throw new TypeError(`${name} must be ${what}`)
  }
}

/** A check for methods. */
export function mustHave(...methods: readonly string[]): OptionCheck {
  return (name, value) => {
    const lacking = methods.find((method) => !isObject(value) || typeof Reflect.get(value, method) !== 'function')
    if (lacking !== undefined) throw new TypeError(`${name} must be an object with a method ${lacking}`)
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
