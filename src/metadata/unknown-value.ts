/**
 * A value that is not known, such as that of a reference that does not resolve: its field is present. The fault itself
 * is reported already.
 */
export class UnknownValue {
  readonly isUnknown = true
}
