/** What any thrown value says: its message, name, system code (`ECONNREFUSED`), or all of it in words, with what is in it. */
import { inspect, types } from 'node:util'
import { isRecord } from '../text/json-text.ts'

/** The message of an error; a text for any other thrown value, which may even throw when it is read. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'an error that cannot be read'
  }
}

/** The name of an error, which holds no secret; the type of any other thrown value. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** The code of an error, such as Node's `ECONNREFUSED`; `undefined` where it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** An error, also one of another realm, such as a test runner's sandbox. */
export const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value)

/** Errors or issues of one error that are named: more would not fit in a log line. */
const maxParts = 5

/** Name and message of an error, and what is in it; any other thrown value in short. Never throws. */
export function errorInWords(thrown: unknown): string {
  try {
    if (!isError(thrown)) return valueInWords(thrown)
    const name = String(thrown.name)
    const issues = issuesOf(thrown)
    // The message of a ZodError is its issues as JSON.
    if (issues) return `${name}: ${issuesInWords(issues)}`
    const inside = partsOf(thrown)
    const words = inside
      .slice(0, maxParts)
      .map((part) => (isError(part) ? `${part.name}: ${part.message}` : valueInWords(part)))
    return [name, String(thrown.message), listed(words, inside.length)].filter((part) => part !== '').join(': ')
  } catch {
    return 'an error that cannot be read'
  }
}

/** What is in an error: the errors of an AggregateError, or of an error that is made like it. */
export function partsOf(error: Error): readonly unknown[] {
  return 'errors' in error && Array.isArray(error.errors) ? error.errors : []
}

/** One fault of a value, as schema libraries tell it (Standard Schema: Issue). */
export interface SchemaIssue {
  readonly message: string
  /** The way to the fault: keys, or objects with a key. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The first issues, each with its place: `items.0.price: expected number`. */
export function issuesInWords(issues: readonly SchemaIssue[]): string {
  const words = issues.slice(0, maxParts).map(({ message, path = [] }) => {
    const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
    return [keys.join('.'), message].filter((part) => part !== '').join(': ')
  })
  return listed(words, issues.length)
}

const listed = (words: readonly string[], count: number) =>
  count > words.length ? `${words.join('; ')}; and ${count - words.length} more` : words.join('; ')

/** Of a ZodError, a ValiError and the like; `undefined` for any other error. */
function issuesOf(error: Error): readonly SchemaIssue[] | undefined {
  const issues: unknown = 'issues' in error ? error.issues : undefined
  return Array.isArray(issues) && issues.length > 0 && issues.every(isIssue) ? issues : undefined
}

function isIssue(value: unknown): value is SchemaIssue {
  if (!isRecord(value) || typeof value.message !== 'string') return false
  return value.path === undefined || (Array.isArray(value.path) && value.path.every(isStep))
}

const isStep = (step: unknown) =>
  isRecord(step) ? 'key' in step : ['string', 'number', 'symbol'].includes(typeof step)

/** No code of the value runs, and of a large one only the beginning is read. */
function valueInWords(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  return inspect(thrown, {
    depth: 1,
    customInspect: false,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: 10,
    maxStringLength: 1_000,
  })
}
