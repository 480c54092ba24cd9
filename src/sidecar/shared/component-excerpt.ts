/** The faults of component files in words, each with its line of the file: secret values masked, comments left out. */

import type { FilePlace } from '../../core/component.ts'
import { type ComponentFile, isWord } from '../../metadata/component/component-file.ts'
import { describeIssues } from '../../metadata/fields/faults.ts'
import { everyFieldName, isPrintable } from '../../metadata/fields/find-field.ts'
import type { Loaded } from '../../metadata/load/load-files.ts'
import type { LocatedDocument, LocatedScalar } from '../../support/files/located-yaml.ts'
import { isRecord } from '../../support/text/json-text.ts'

/** What the files hold, and what is wrong with them in words. */
export interface LoadedInWords extends Loaded {
  /** A text for each broken file, and for what is wrong outside of files. */
  readonly faults: readonly string[]
}

/** Puts the faults into words. @param maxWidth columns of a line of a file that is shown */
export function withFaultsInWords(loaded: Loaded, maxWidth: number): LoadedInWords {
  const byFile = Map.groupBy(loaded.issues, ({ at }) => at?.file ?? '')
  const faults = [...byFile].map(([file, issues]) => {
    const read = loaded.files.get(file)
    const excerpt = read && !(read instanceof Error) ? (at: FilePlace) => excerptOf(read, at, maxWidth) : undefined
    return describeIssues(issues, excerpt).join('\n')
  })
  return { ...loaded, faults }
}

/** The line of a place in a file with a caret under it. */
export const excerptOf = (
  { excerpt }: Pick<ComponentFile, 'excerpt'>,
  at: Pick<FilePlace, 'line' | 'column'>,
  maxWidth: number,
): string => excerpt(at, { maxWidth, words, isShown })

/** What an excerpt shows of a text with a syntax error: words of the envelope and names of fields, which are not secret. */
const words: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'Component', 'metadata', 'namespace', 'spec', 'type', 'version', 'scopes'],
  ...['name', 'value', 'secretKeyRef', 'key', 'envRef', 'auth', 'secretStore', 'v1', 'dapr.io/v1alpha1'],
  ...everyFieldName,
])

/** Scalars that name something: all of an envelope, and all of an entry but its value. */
const shownPaths: readonly RegExp[] = [
  /^(apiVersion|kind|metadata\.(name|namespace)|spec\.(type|version)|auth\.secretStore|scopes\.\d+)$/,
  /^spec\.metadata\.\d+\.(name|envRef|secretKeyRef\.(name|key))$/,
]

/** What an excerpt shows of a document: only what is known to be no secret. */
function isShown({ path, isKey, text }: LocatedScalar, { value: document }: LocatedDocument): boolean {
  if (isKey) return isWord(text)
  if (shownPaths.some((pattern) => pattern.test(path.join('.')))) return true
  const [spec, metadata, index, key] = path
  if (path.length !== 4 || spec !== 'spec' || metadata !== 'metadata' || key !== 'value') return false
  const entries = isRecord(document) && isRecord(document.spec) ? document.spec.metadata : undefined
  const entry: unknown = Array.isArray(entries) ? entries[Number(index)] : undefined
  return isRecord(entry) && typeof entry.name === 'string' && isPrintable(entry.name, text)
}
