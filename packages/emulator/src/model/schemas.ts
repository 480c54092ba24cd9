/** What is wrong with a value by its schema, with places and in plain words; and how the emulator's schemas take enumerations. */
import { z } from 'zod'
import type { YamlPath } from '../../../../src/support/files/located-yaml.ts'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'

/** A fault, and the place of the fault. */
export interface FieldFault {
  readonly path: YamlPath
  /** Begins with a verb: `must be a text`. */
  readonly rule: string
  /** A key of the mapping at the path, where the key is wrong. */
  readonly name?: string
}

/** The most faults that are told: a file of another kind has thousands. */
export const maxFaults = 30

/**
 * Reads a value by its schema: the data, where there is no fault, and the faults.
 *
 * @param moreNames names that the value may have beside the fields, for a did-you-mean. @default none
 */
export function readFields<Data>(
  schema: z.ZodType<Data>,
  value: unknown,
  moreNames: readonly string[] = [],
): { readonly data: Data | undefined; readonly faults: FieldFault[] } {
  const { data, error } = schema.safeParse(value, { error: plainWords })
  const faults = (error?.issues.slice(0, maxFaults) ?? []).flatMap((issue): FieldFault[] => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code !== 'unrecognized_keys') return [{ path, rule: issue.message }]
    const names = [...namesAt(schema, path), ...(path.length === 0 ? moreNames : [])]
    return issue.keys.map((name) => ({ path, rule: unknownRule(name, names), name }))
  })
  return { data, faults: faults.slice(0, maxFaults) }
}

function unknownRule(name: string, names: readonly string[]): string {
  const question = didYouMean(name, names)
  return question === undefined
    ? `is not a field here; the fields are ${names.join(', ')}`
    : `is not a field; ${question}`
}

/** The names that the mapping at a path of a schema may have. */
export function namesAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodExactOptional) return namesAt(schema.unwrap(), path)
  if (schema instanceof z.ZodPipe) return namesAt(schema.out, path)
  const [first, ...rest] = path
  if (schema instanceof z.ZodArray) return first === undefined ? [] : namesAt(schema.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  return first === undefined ? Object.keys(schema.shape) : namesAt(schema.shape[String(first)], rest)
}

/** The place of a fault in words, as in `topics[0].inputSchema`; empty for the value itself. */
export function fieldName({ path, name }: FieldFault): string {
  return [...path, ...(name === undefined ? [] : [name.slice(0, 200)])]
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}

/**
 * Checks options of code, whose members may be undefined. Throws a TypeError with a line for each fault. @param what the name of the
 * whole
 */
export function checkOptions(what: string, schema: z.ZodType, given: unknown): void {
  const { faults } = readFields(schema, withoutUndefined(given))
  if (faults.length > 0) throw errorOfFaults(faults, what)
}

/** A TypeError with a line for each fault. @param what the name of the whole. @default the options */
export const errorOfFaults = (faults: readonly FieldFault[], what = 'the options'): TypeError =>
  new TypeError(faults.map((fault) => `${fieldName(fault) || what} ${fault.rule}`).join('\n'))

/** The value without its members that are undefined, at any depth. */
export function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!isRecord(value)) return value
  const given = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(given.map(([name, one]) => [name, withoutUndefined(one)]))
}

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

/** A schema for each member of an interface: a member that is missing, one too many, or one of another type does not compile. */
export type Members<T> = { readonly [Name in keyof T]-?: z.ZodType<T[Name]> }
