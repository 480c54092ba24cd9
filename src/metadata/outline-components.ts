import type { MetadataIssue } from '../core/errors.ts'
import { isRecord } from '../support/is-record.ts'
import { readYaml } from './read-yaml.ts'

/** What a host must know of a component before its references can be resolved. */
export interface ComponentOutline {
  readonly name: string
  readonly type: string
  /** The applications that it is for; empty: every one. */
  readonly scopes: readonly string[]
  /** The values that stand in the file, as text; references are left out. */
  readonly values: ReadonlyMap<string, string>
}

/** Is a component for an application? */
export const isForApp = ({ scopes }: Pick<ComponentOutline, 'scopes'>, appId: string): boolean =>
  scopes.length === 0 || scopes.includes(appId)

/**
 * The outlines of a YAML text's components; `undefined` where it is no YAML. Judges nothing else and throws nothing: what is wrong is left out here, and is
 * reported by `parseComponents`.
 */
export function outlineComponents(yamlText: string): readonly ComponentOutline[] | undefined {
  const faults: MetadataIssue[] = []
  const documents = readYaml(yamlText, '', faults)
  if (faults.length > 0) return undefined
  return documents.flatMap(({ value }) => {
    if (!isRecord(value) || value.kind !== 'Component') return []
    const { metadata, spec, scopes } = value
    const name = isRecord(metadata) ? metadata.name : undefined
    const type = isRecord(spec) ? spec.type : undefined
    if (typeof name !== 'string' || typeof type !== 'string') return []
    return [{ name, type, scopes: texts(scopes), values: readValues(isRecord(spec) ? spec.metadata : undefined) }]
  })
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const texts = (value: unknown) => list(value).filter((item) => typeof item === 'string')

const readValues = (entries: unknown): ReadonlyMap<string, string> =>
  new Map(
    list(entries).flatMap((entry) =>
      isRecord(entry) && typeof entry.name === 'string' && ['string', 'boolean', 'number'].includes(typeof entry.value)
        ? [[entry.name, String(entry.value)] as const]
        : [],
    ),
  )
