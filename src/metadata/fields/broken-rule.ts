/** The error of one wrong value: its rule, and how to keep it. */
import type { MetadataIssue } from '../../core/errors.ts'

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
