/** Collects texts for the user while component files are read. */
export interface Diagnostics {
  /** A text for each fault. */
  readonly faults: string[]
  /** A text for each fact worth knowing. */
  readonly notes: string[]
}
