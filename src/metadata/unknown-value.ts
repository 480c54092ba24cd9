/**
 * Stands for a value that could not be found out, such as that of a reference to nothing: its field is there, and
 * nothing can be said of what it holds. The fault itself has been reported.
 */
export class UnknownValue {
  readonly isUnknown = true
}
