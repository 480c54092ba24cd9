import { configJsonSchema } from '../../src/emulator/config/config-schema.ts'
import { isRecord } from '../../src/support/text/is-record.ts'

/** The table of the emulator's configuration as Markdown, for docs/emulator-facts.md; a test compares the two. */
export function renderFieldsTable(): string {
  return ['| field | meaning |', '|---|---|', ...rowsOf(configJsonSchema(), '')].join('\n')
}

/** A row for each field that has a meaning of its own, and for those in it: `topics[].name`. */
function* rowsOf(schema: unknown, above: string, seen = new Map<string, string>()): Generator<string> {
  for (const [name, field] of Object.entries(recordIn(schema, 'properties'))) {
    if (!isRecord(field) || typeof field.description !== 'string') continue
    const path = `${above}${name}`
    const inner = `${path}[]`
    const members = JSON.stringify(recordIn(itemOf(field), 'properties'))
    const like = seen.get(members)
    const about = like === undefined ? field.description : `${field.description} Its fields are those of \`${like}\`.`
    yield `| \`${path}\` | ${about.replaceAll('|', '\\|')} |`
    if (like !== undefined || members === '{}') continue
    seen.set(members, inner)
    yield* rowsOf(itemOf(field), `${inner}.`, seen)
  }
}

/** What a list holds; of several forms the mapping. */
function itemOf(field: unknown): unknown {
  const items = recordIn(field, 'items')
  return Array.isArray(items.anyOf) ? items.anyOf.find((form) => isRecord(form) && 'properties' in form) : items
}

function recordIn(value: unknown, name: string): Record<string, unknown> {
  const found = isRecord(value) ? value[name] : undefined
  return isRecord(found) ? found : {}
}
