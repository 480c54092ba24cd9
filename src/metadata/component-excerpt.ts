import { isRecord } from '../support/is-record.ts'
import type { LocatedDocument, LocatedScalar } from '../support/located-yaml.ts'
import { everyFieldName } from './fields.ts'
import { isPrintable } from './redact.ts'

/** Words of the envelope that are not secret. */
const words: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'Component', 'metadata', 'namespace', 'spec', 'type', 'version', 'scopes'],
  ...['name', 'value', 'secretKeyRef', 'key', 'envRef', 'auth', 'secretStore', 'v1', 'dapr.io/v1alpha1'],
  ...everyFieldName,
])

/** Scalars that name something: those of an envelope, and of an entry all but its value. */
const shownPaths: readonly RegExp[] = [
  /^(apiVersion|kind|metadata\.(name|namespace)|spec\.(type|version)|auth\.secretStore|scopes\.\d+)$/,
  /^spec\.metadata\.\d+\.(name|envRef|secretKeyRef\.(name|key))$/,
]

function isShown({ path, isKey, text }: LocatedScalar, { value: document }: LocatedDocument): boolean {
  if (isKey) return /^[a-z]{1,40}$/i.test(text)
  if (shownPaths.some((pattern) => pattern.test(path.join('.')))) return true
  const [spec, metadata, index, key] = path
  if (path.length !== 4 || spec !== 'spec' || metadata !== 'metadata' || key !== 'value') return false
  const list = isRecord(document) && isRecord(document.spec) ? document.spec.metadata : undefined
  const entry: unknown = Array.isArray(list) ? list[Number(index)] : undefined
  return isRecord(entry) && typeof entry.name === 'string' && isPrintable(entry.name, text)
}

/** What the excerpt of a component's YAML shows: only what is known to be no secret. In a text with a syntax error that is little. */
export const shownInExcerpt = { words, isShown } as const
