/** A metadata field by its name or alias in any case: how it is written, and how its value is printed. */
import { z } from 'zod'
import type { Side } from '../../core/component.ts'
import { redacted, Secret } from '../../core/secret.ts'
import { quote } from '../../support/text/text.ts'
import { showUrl } from './addresses.ts'
import type { Facts } from './field.ts'
import { fields } from './field-table.ts'
import type { Circumstances } from './needs.ts'

type Fields = typeof fields

/** The name of a metadata field, as the table spells it. */
export type FieldName = keyof Fields

/** Another name of a metadata field, as the table spells it. */
export type FieldAlias = { [Name in FieldName]: AliasOf<Name> }[FieldName]

type AliasOf<Name extends FieldName> = Fields[Name]['facts'] extends { readonly aliases: readonly (infer Alias)[] }
  ? Alias
  : never

/** What may be written for a field: one of its words, or any text. */
export type WrittenFor<Name extends FieldName> = Fields[Name]['facts'] extends {
  readonly choices: readonly (infer Word)[]
}
  ? Word | (Fields[Name]['facts'] extends { readonly otherChoices: readonly (infer Other)[] } ? Other : never)
  : string

/** The name of the field that goes by a name or an alias. */
export type FieldOf<Spelled extends FieldName | FieldAlias> = {
  [Name in FieldName]: Spelled extends Name | AliasOf<Name> ? Name : never
}[FieldName]

/** What every field has: its facts, with the defaults filled in. */
type Told = 'aliases' | 'readers' | 'secret' | 'shown' | 'decides' | 'choices' | 'type' | 'about'

/** One metadata field. Parser, schema, docs/metadata.md, descriptor and redaction all read this table. */
export interface MetadataField extends Required<Pick<Facts, Told>> {
  /** The documented name. It matches in any letter case. */
  readonly name: string
  /** The sides that read the field. A field of one side alone configures that side. */
  readonly sides: readonly Side[]
  /** Must a configured side have the field? Another credential can replace a field: docs/metadata.md, "Credentials". */
  readonly required: boolean
  /** The value of a field that is left out, as a user would write it. */
  readonly default: string | undefined
  /** The behaviour without the field, where there is no fixed default. */
  readonly otherwise: string | undefined
  /** A value to start from, for a field that a user may have to add. */
  readonly example: string | undefined
}

/** A field with the facts that only the parser needs. */
type KnownField = MetadataField & Required<Pick<Facts, 'needed' | 'stricter'>>

/** The texts of fields to their values. A field that is left out is `undefined`, or has its default. */
export const valuesSchema = z.object(fields)

/** The values of fields. Past the parser a value is right, so nobody checks it again. */
export type Values = Readonly<z.output<typeof valuesSchema>>

/** A component without any field: what it requires then, the table shows. */
const bare: Circumstances = {
  azureCredential: 'clientSecret',
  deliveryAuthentication: 'secret',
  provisioning: 'manage',
  topicAuthentication: 'accessKey',
  credentialGiven: false,
  has: () => false,
}

const oneOf = (words: readonly string[]) =>
  words
    .map((word) => `\`${word}\``)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ')

function knownField(name: string, facts: Facts): KnownField {
  const { readers, needed = () => undefined, choices = [] } = facts
  return {
    aliases: [],
    default: undefined,
    otherwise: undefined,
    secret: false,
    shown: 'redacted',
    decides: false,
    stricter: {},
    example: undefined,
    type: oneOf(choices),
    ...facts,
    name,
    needed,
    choices,
    sides: [...new Set(readers.map((reader) => (reader === 'output' ? 'output' : 'input')))],
    required: readers.some((reader) => reader !== 'pull' && needed(bare, reader) !== undefined),
  }
}

/** The table of metadata fields, in the order in which they are documented. */
export const metadataFields: readonly KnownField[] = Object.entries(fields).map(([name, { facts }]) =>
  knownField(name, facts),
)

const byAnyName = new Map(
  metadataFields.flatMap((field) => [field.name, ...field.aliases].map((name) => [name.toLowerCase(), field] as const)),
)

/** The field that goes by a name or an alias, in any letter case; `undefined` where none does. */
export function findField(name: string): KnownField | undefined {
  return byAnyName.get(name.toLowerCase())
}

/** Every name and alias, for a did-you-mean. */
export const everyFieldName: readonly string[] = metadataFields.flatMap(({ name, aliases }) => [name, ...aliases])

/** What to write for a field that is missing, as an entry of a component's metadata. */
export function entryToWrite({ name, secret, example = '…' }: MetadataField): string {
  if (secret) return `{ name: ${name}, secretKeyRef: { name: event-grid, key: ${name} } }`
  return `{ name: ${name}, value: "${example}" }`
}

/**
 * The value of a metadata field as it may be printed: quoted, or `(redacted)`.
 * Goes by the table of fields: a name that the table has not, and a field that may be secret, is redacted.
 */
export function showValue(name: string, value: unknown): string {
  if (value instanceof Secret) return redacted
  const shown = findField(name)?.shown ?? 'redacted'
  if (shown === 'redacted') return redacted
  if (Array.isArray(value)) return '(a list)'
  if (typeof value === 'object' && value !== null) return '(an object)'
  if (typeof value !== 'string') return String(value)
  return quote(shown === 'url' ? showUrl(value) : value)
}

/** May a value of this field be handed out as plain text in an object that somebody could print? */
export function isPrintable(name: string, text: string): boolean {
  const shown = findField(name)?.shown
  if (shown === 'url') return !/[?#@]/.test(text)
  return shown === 'plain'
}
