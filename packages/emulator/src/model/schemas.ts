/** How the emulator's schemas take values, and in which words a fault that a schema finds is told. */
import { z } from 'zod'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list of two',
  object: 'a mapping',
  record: 'a mapping',
}

const formatNames: Readonly<Record<string, string>> = {
  datetime: 'a time of ISO 8601, like 2026-01-31T12:00:00Z',
  duration: 'a duration of ISO 8601, like PT5M',
}

/** The words for a fault; begins with a verb: `must be a text`. To be given to `safeParse` as `error`. */
export function plainWords(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return oneOf(issue.values ?? [], issue.input)
    case 'too_small':
      return `must ${amount(issue.origin, issue.minimum, 'at least', 'or more')}`
    case 'too_big':
      return `must ${amount(issue.origin, issue.maximum, 'at most', 'or less')}`
    case 'invalid_format':
      return `must be ${formatNames[issue.format ?? ''] ?? 'of another form'}`
    case 'invalid_key':
      return `has a name that ${issue.issues?.[0]?.message ?? 'is not taken here'}`
    case 'invalid_union':
      return 'has none of the forms that are taken here'
    default:
      return 'is not taken here'
  }
}

function oneOf(values: readonly unknown[], given: unknown): string {
  const names = values.map(String)
  const question = didYouMean(String(given), names)
  return `must be ${names.join(' or ')}${question === undefined ? '' : `; ${question}`}`
}

function amount(origin: string | undefined, limit: number | bigint | undefined, bound: string, after: string): string {
  if (origin === 'array') return `hold ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
  if (origin === 'string') return `have ${bound} ${limit} characters`
  return `be ${limit} ${after}`
}

/** The name of a list that a value is in another letter case; anything else as it is, for the schema to refuse. */
const spelled = (names: readonly string[], given: unknown) =>
  typeof given === 'string' ? (names.find((name) => name.toLowerCase() === given.toLowerCase()) ?? given) : given

/** One of these names, in any letter case. */
export const enumeration = <const Name extends string>(...names: readonly [Name, ...Name[]]) =>
  z.preprocess((given) => spelled(names, given), z.enum(names))

/** A schema whose forms differ by the value of a member, which is taken in any letter case. */
export const byMember = <Form extends z.ZodType>(member: string, names: readonly string[], form: Form) =>
  z.preprocess((given, context) => {
    if (!isRecord(given)) return given
    const value = spelled(names, given[member])
    if (names.some((name) => name === value)) return { ...given, [member]: value }
    context.addIssue({ code: 'invalid_value', values: [...names], input: value, path: [member] })
    return z.NEVER
  }, form)

/** Lists and objects are read only, at any depth, so that constants can be passed. */
export type ReadonlyDeep<T> = unknown extends T
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T
