import { type MetadataField, metadataFields } from '../../src/metadata/fields/find-field.ts'

/** The table of metadata fields as Markdown, for docs/metadata.md; a test compares the two. */
export function renderMetadataTable(fields: readonly MetadataField[] = metadataFields): string {
  const header = ['| Field | Required | Side | Format | Default | Meaning |', '|---|---|---|---|---|---|']
  return [...header, ...fields.map(renderRow)].join('\n')
}

function renderRow(field: MetadataField): string {
  const names = [field.name, ...field.aliases].map((name) => `\`${name}\``).join(', ')
  const fallback = field.default === undefined ? (field.otherwise ?? '') : `\`${field.default}\``
  const [only, another] = field.readers
  const sides = another === undefined && only !== 'output' ? `input (${only})` : field.sides.join(', ')
  const cells = [names, field.required ? 'yes' : 'no', sides, field.type, fallback, field.about]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
