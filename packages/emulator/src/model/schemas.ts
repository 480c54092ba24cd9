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

const knownNames = new WeakMap<z.ZodType, readonly string[]>()

/** The names of all members that a schema has, at any depth. */
export function memberNames(schema: z.ZodType): readonly string[] {
  const names = knownNames.get(schema) ?? namesIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  knownNames.set(schema, names)
  return names
}

function namesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesIn)
  if (!isRecord(schema)) return []
  const { properties, ...rest } = schema
  const members = isRecord(properties) ? properties : {}
  return [...Object.keys(members), ...[...Object.values(members), ...Object.values(rest)].flatMap(namesIn)]
}

/** What a user names: its members are no names of a schema. */
const freeNames: ReadonlySet<string> = new Set(['tags', 'userAssignedIdentities', 'inlineEventTypes'])

/**
 * A body with the members of a schema as that spells them, at any depth: Resource Manager takes their names in any letter case
 * (MicrosoftDocs/azure-docs 18172: `OperatorType`).
 */
export function spelledMembers(schema: z.ZodType, body: unknown): unknown {
  const names = new Map([...memberNames(schema), 'properties'].map((name) => [name.toLowerCase(), name]))
  const respelled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(respelled)
    if (!isRecord(value)) return value
    const members = Object.entries(value).map(([given, member]) => {
      const name = names.get(given.toLowerCase()) ?? given
      return [name, freeNames.has(name) ? member : respelled(member)]
    })
    return Object.fromEntries(members)
  }
  return respelled(body)
}

/** Lists and objects are read only, at any depth, so that constants can be passed. */
export type ReadonlyDeep<T> = unknown extends T
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T
