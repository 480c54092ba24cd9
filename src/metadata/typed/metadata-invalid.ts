// Text and order of METADATA_INVALID messages: a line per issue, 50 at most.
import { BindingError, type MetadataIssue } from '../../core/errors.ts'

const maxListed = 50

/** The METADATA_INVALID error of these faults: its message has a line for each (50 at most), its `issues` have them all. */
export function metadataInvalid(subject: string, issues: readonly MetadataIssue[]): BindingError {
  const lines = describeIssues(issues)
  const what = lines.length === 1 ? `${subject}: ${lines[0]}` : [`${subject}:`, ...lines].join('\n- ')
  return new BindingError('METADATA_INVALID', { what, issues })
}

/** A line for each issue, 50 at most, and below it what `excerptOf` gives for its place. */
export function describeIssues(
  issues: readonly MetadataIssue[],
  excerptOf: (at: string) => string | undefined = () => undefined,
): readonly string[] {
  const listed = issues.slice(0, maxListed)
  const lines = listed.map((issue, index) => {
    // Below the last of several issues of one place.
    const isLast = issue.at !== undefined && listed[index + 1]?.at !== issue.at
    const excerpt = isLast ? excerptOf(issue.at ?? '') : undefined
    return excerpt === undefined ? describeIssue(issue) : `${describeIssue(issue)}\n${excerpt}`
  })
  return issues.length > maxListed ? [...lines, `and ${issues.length - maxListed} more`] : lines
}

export function describeIssue({ at, field, value, rule, fix }: MetadataIssue): string {
  const where = at === undefined ? '' : `${at}: `
  const name = field === undefined ? '' : `${field} `
  const got = value === undefined ? '' : ` (got ${value})`
  return `${where}${name}${rule}${got}${fix === undefined ? '' : `; ${fix}`}`
}

/** The order of places in one file; an issue without a place comes last. */
export function byPlace(one: MetadataIssue, other: MetadataIssue): number {
  const [line, column] = lineAndColumn(one)
  const [otherLine, otherColumn] = lineAndColumn(other)
  return line - otherLine || column - otherColumn
}

function lineAndColumn({ at }: MetadataIssue): readonly [number, number] {
  const [, line, column] = /:(\d+):(\d+)$/.exec(at ?? '') ?? []
  return [Number(line ?? Number.MAX_SAFE_INTEGER), Number(column ?? 0)]
}
