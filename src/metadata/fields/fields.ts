// Metadata field found by name or alias in any case; entry to write.
import { type MetadataField, rows } from './field-table.ts'

/** The name of a metadata field, as the table spells it. */
export type FieldName = keyof typeof rows

/** Another name of a metadata field, as the table spells it. */
export type FieldAlias = {
  [Name in FieldName]: (typeof rows)[Name] extends { readonly aliases: readonly (infer Alias)[] } ? Alias : never
}[FieldName]

type KnownField = MetadataField & { readonly name: FieldName }

const isFieldName = (name: string): name is FieldName => Object.hasOwn(rows, name)

/** What a row does not say. */
const unsaid = {
  aliases: [],
  required: false,
  default: undefined,
  otherwise: undefined,
  secret: false,
  shown: 'redacted',
  resettable: false,
  example: undefined,
} as const

/** The table of metadata fields, in the order in which they are documented. */
export const metadataFields: readonly KnownField[] = Object.keys(rows)
  .filter(isFieldName)
  .map((name) => ({ ...unsaid, ...rows[name], name }))

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
export function entryToWrite(name: FieldName): string {
  const { secret = false, example } = findField(name) ?? {}
  if (secret) return `{ name: ${name}, secretKeyRef: { name: event-grid, key: ${name} } }`
  return `{ name: ${name}, value: "${example ?? '…'}" }`
}
