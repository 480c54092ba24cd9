import { BindingError, type MetadataIssue } from '../core/errors.ts'

const mostListed = 50

/**
 * The METADATA_INVALID error of these faults: its message has a line for each (50 at most), its `issues` have them all.
 */
export function metadataInvalid(subject: string, issues: readonly MetadataIssue[]): BindingError {
  const lines = issues.slice(0, mostListed).map(describeIssue)
  if (issues.length > mostListed) lines.push(`and ${issues.length - mostListed} more`)
  const [only] = lines
  const what =
    lines.length === 1 ? `${subject}: ${only}` : `${subject}:\n${lines.map((line) => `- ${line}`).join('\n')}`
  return new BindingError('METADATA_INVALID', { what, issues })
}

/** An issue as one line. */
export function describeIssue({ at, field, value, rule, fix }: MetadataIssue): string {
  const where = at === undefined ? '' : `${at}: `
  const name = field === undefined ? '' : `${field} `
  const got = value === undefined ? '' : ` (got ${value})`
  return `${where}${name}${rule}${got}${fix === undefined ? '' : `; ${fix}`}`
}
