/** The faults of metadata: the rule that one value breaks, and the error METADATA_INVALID with a line for each. */

import { comparePlaces, type FilePlace, placeInWords } from '../../core/component.ts'
import { BindingError, type BindingErrorDetails, type MetadataIssue } from '../../core/errors.ts'

/**
 * A text that breaks the rule of its field, or a reference that leads to nothing. Thrown by the parsers of single values and collected by
 * `readMetadata`. Never holds the value itself, which may be secret.
 */
export class BrokenRule extends Error {
  override readonly name = 'BrokenRule'
  /** The rule, as it reads after the field's name: `must be ...`. */
  readonly rule: string
  readonly fix: string | undefined
  readonly kind: MetadataIssue['kind']

  constructor(rule: string, fix?: string, kind?: MetadataIssue['kind']) {
    super(rule)
    this.rule = rule
    this.fix = fix
    this.kind = kind
  }
}

/** What a broken rule says, for an issue. Throws any other error on. */
export function brokenRule(error: unknown): Pick<MetadataIssue, 'rule' | 'fix' | 'kind'> {
  if (!(error instanceof BrokenRule)) throw error
  const { rule, fix, kind } = error
  return { rule, ...(fix !== undefined && { fix }), ...(kind !== undefined && { kind }) }
}

const maxListed = 50

/** The METADATA_INVALID error of these faults: its message has a line for each (50 at most), its `issues` have them all. */
export function metadataInvalid(
  subject: string,
  issues: readonly MetadataIssue[],
  details?: BindingErrorDetails['METADATA_INVALID'],
): BindingError {
  const lines = describeIssues(issues)
  const what = lines.length === 1 ? `${subject}: ${lines[0]}` : [`${subject}:`, ...lines].join('\n- ')
  return new BindingError('METADATA_INVALID', { what, issues, details })
}

/** A line for each issue, 50 at most, and below it what `excerptOf` gives for its place. */
export function describeIssues(issues: readonly MetadataIssue[], excerptOf?: (at: FilePlace) => string | undefined) {
  const listed = issues.slice(0, maxListed)
  const lines = listed.map((issue, index) => {
    // Below the last of several issues of one place.
    const isLast = comparePlaces(issue.at, listed[index + 1]?.at) !== 0
    const excerpt = isLast && issue.at ? excerptOf?.(issue.at) : undefined
    return excerpt === undefined ? describeIssue(issue) : `${describeIssue(issue)}\n${excerpt}`
  })
  return issues.length > maxListed ? [...lines, `and ${issues.length - maxListed} more`] : lines
}

export function describeIssue({ kind, at, field, value, rule, fix }: MetadataIssue): string {
  // What can't be read has no line.
  const where = at === undefined ? '' : `${kind === 'unreadable' ? at.file : placeInWords(at)}: `
  const name = field === undefined ? '' : `${field} `
  const got = value === undefined ? '' : ` (got ${value})`
  return `${where}${name}${rule}${got}${fix === undefined ? '' : `; ${fix}`}`
}

export const byPlace = (one: MetadataIssue, other: MetadataIssue) => comparePlaces(one.at, other.at)
