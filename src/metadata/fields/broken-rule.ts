// The error class of a single wrong value: "must be …" and its fix.

/**
 * A text that breaks the rule of its field. Thrown by the parsers of single values and collected by `readMetadata`.
 * Never holds the value itself, which may be secret.
 */
export class BrokenRule extends Error {
  override readonly name = 'BrokenRule'
  /** The rule, as it reads after the field's name: `must be ...`. */
  readonly rule: string
  readonly fix: string | undefined

  constructor(rule: string, fix?: string) {
    super(rule)
    this.rule = rule
    this.fix = fix
  }
}
