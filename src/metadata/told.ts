/** Where texts for the user are gathered while components are read. */
export interface Told {
  /** A text for each thing that is wrong. */
  readonly faults: string[]
  /** A text for each thing that is good to know. */
  readonly notes: string[]
}
