/** The components that are checked, and what is wrong with their files, values, secrets and names. */
import type { FilePlace, Side } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { unreadablePath } from '../../metadata/component/component-folder.ts'
import { byPlace, describeIssue, describeIssues } from '../../metadata/fields/faults.ts'
import type { Loaded, TakenComponent } from '../../metadata/load/load-files.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import { quote } from '../../support/text/text.ts'
import { excerptOf } from '../shared/component-excerpt.ts'
import { type Finding, failed, joined, ok, onlyField, warning } from './finding.ts'

/** One component as the files have it, or the faults of a file outside of components. */
export interface CheckedComponent {
  /** `null`: faults of a file that belong to no component. */
  readonly name: string | null
  readonly file: string
  /** The findings of the checks of the files. Absent: the check does not apply. */
  readonly files: {
    readonly yaml: Finding
    readonly metadata?: Finding | undefined
    readonly secrets?: Finding | undefined
    readonly names?: Finding | undefined
  }
  readonly properties: Readonly<Record<string, unknown>>
  /** The sides that the component seems to configure, valid or not. */
  readonly sides: readonly Side[]
  /** Absent if the component is not valid, or a secret is not known. */
  readonly metadata: ParsedMetadata | undefined
  /** Equal for a component that was read again with the same properties. Absent if the component is not valid. */
  readonly fingerprint?: string | undefined
}

/** The components as they were loaded, the faults of each apart. @param excerptWidth columns of the line of a fault that is shown */
export function loadChecked({ files, storeIssues }: Loaded, excerptWidth: number): readonly CheckedComponent[] {
  const storeFaults = storeIssues.map(describeIssue)
  let areStoreFaultsTold = false
  const found: CheckedComponent[] = []
  const earlier: Earlier[] = []
  for (const [file, read] of files) {
    if (read instanceof Error) {
      found.push(alone(file, failed(describeIssue(unreadablePath(file, read)))))
      continue
    }
    const { taken, issues } = read
    const faulty = (all: readonly MetadataIssue[]) => faultyFinding(all, (at) => excerptOf(read, at, excerptWidth))
    const mistakes = issues.length > 0 ? [] : read.mistakes.map((issue) => warning(describeIssue(issue)))
    const yaml = joined([isRead, ...mistakes])
    if (issues.length > 0) found.push(alone(file, faulty(issues)))
    else if (taken.length === 0 && mistakes.length > 0) found.push(alone(file, yaml))
    for (const one of taken) {
      const { name, properties, sides } = one.component
      const { metadata, findings, tellsStoreFaults } = examine(one, faulty, storeFaults)
      areStoreFaultsTold ||= tellsStoreFaults
      const names = joined([namesFinding(name, earlier), ...sharedSubscriptions(metadata, earlier)])
      const { fingerprint } = one.loaded ?? {}
      found.push({ name, file, properties, sides, metadata, fingerprint, files: { yaml, ...findings, names } })
      earlier.push({ name, file, metadata })
    }
  }
  const [firstFile = ''] = files.keys()
  if (storeFaults.length > 0 && !areStoreFaultsTold)
    found.push(alone(firstFile, isRead, failed(storeFaults.join('\n'))))
  return found
}

const isRead = ok('the file is read')

const alone = (file: string, yaml: Finding, secrets?: Finding): CheckedComponent => ({
  name: null,
  file,
  properties: {},
  sides: [],
  metadata: undefined,
  files: { yaml, secrets },
})

/** What is wrong with the fields and references of a component. */
function examine(
  one: TakenComponent,
  faulty: (issues: readonly MetadataIssue[]) => Finding,
  storeFaults: readonly string[],
) {
  const unresolved = one.issues.filter(({ kind }) => kind === 'unresolvedReference')
  const faults = one.issues.filter(({ kind }) => kind !== 'unresolvedReference')
  const metadata = one.loaded?.metadata
  // A reference into a store that can't be read has no issue.
  const isUnknown = one.issues.length === 0 && one.loaded === undefined
  const remedy = 'make the secret store readable, or name a JSON file by --secrets FILE'
  let secrets = ok('every reference leads to a value')
  const tellsStoreFaults = unresolved.length === 0 && isUnknown && storeFaults.length > 0
  if (unresolved.length > 0) secrets = faulty(unresolved)
  else if (tellsStoreFaults) secrets = failed(storeFaults.join('\n'), { remedy })
  const warnings = (metadata?.warnings ?? []).map((issue) => warning(describeIssue(issue), { field: issue.field }))
  const fields = faults.length > 0 ? faulty(faults) : joined([ok(validSides(metadata)), ...warnings])
  return {
    metadata: faults.length === 0 && secrets.status === 'ok' ? metadata : undefined,
    findings: { metadata: fields, secrets },
    tellsStoreFaults,
  }
}

function validSides(metadata: ParsedMetadata | undefined): string {
  const { push: input, pull, output } = metadata ?? {}
  const sides = [input && 'input', pull && 'input by pull', output && 'output'].filter((side) => side !== undefined)
  return sides.length === 0 ? 'the fields that are known are valid' : `valid: ${sides.join(' and ')}`
}

/** A component that was read before. */
type Earlier = Pick<CheckedComponent, 'file' | 'metadata'> & { readonly name: string }

function namesFinding(name: string, earlier: readonly Earlier[]): Finding {
  const other = earlier.find((one) => one.name === name)
  if (!other) return ok(`no other component is called ${quote(name)}`)
  const remedy = 'give this one another metadata.name'
  return failed(`another component in ${other.file} is called ${quote(name)} too, and that one counts`, { remedy })
}

/** A component before that has the same event subscription: Azure compares scope and name without letter case. */
function sharedSubscriptions(metadata: ParsedMetadata | undefined, earlier: readonly Earlier[]): readonly Finding[] {
  const own = subscriptionsOf(metadata)
  const pairs = earlier.flatMap((other) =>
    subscriptionsOf(other.metadata).flatMap((theirs) =>
      own.flatMap((one) => (one.id === theirs.id ? [{ other, theirs, one }] : [])),
    ),
  )
  const [pair] = pairs
  if (!pair) return []
  const { other, theirs, one } = pair
  const what = `component ${quote(other.name)} in ${other.file} has the event subscription ${one.shown} too`
  const field = 'eventSubscriptionName'
  const remedy = `give one of them another ${field}`
  if (theirs.destination === one.destination) return [warning(`${what}: they share its events`, { remedy, field })]
  return [failed(`${what}, with another destination: each would move it to its own`, { remedy, field })]
}

/** The event subscription of a push component. Of a pull component the Queue, and the one that forwards the events of a scope. */
function subscriptionsOf({ push, pull }: Partial<ParsedMetadata> = {}) {
  const at = (source: string, name: string, destination: string) => {
    return { id: `${source}/${name}`.toLowerCase(), shown: `${quote(name)} of ${source}`, destination }
  }
  if (push) return [at(push.scope.id, push.eventSubscriptionName, push.subscriberEndpoint)]
  if (!pull) return []
  const { namespaceTopic, forwardedScope, eventSubscriptionName: name } = pull
  const topic = namespaceTopic.id.toLowerCase()
  return [at(topic, name, 'a queue'), ...(forwardedScope ? [at(forwardedScope.id, name, topic)] : [])]
}

/** Faults with the lines that they stand on. */
function faultyFinding(issues: readonly MetadataIssue[], excerptOf: (at: FilePlace) => string): Finding {
  const described = issues.toSorted(byPlace).map(({ fix, ...issue }) => issue)
  const fixes = issues.flatMap(({ field, fix }) =>
    fix === undefined ? [] : [field === undefined ? fix : `${field}: ${fix}`],
  )
  const remedy = fixes.length > 0 ? [...new Set(fixes)].join('\n') : undefined
  return failed(describeIssues(described, excerptOf).join('\n'), { remedy, field: onlyField(issues) })
}
