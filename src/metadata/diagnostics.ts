/** Collects texts for the user while component files are read. */
export interface Diagnostics {
  readonly faults: string[]
  readonly notes: string[]
}
