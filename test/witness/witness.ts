/** Something that a witness has seen to be so; with `error`, that it was not. */
export interface Step {
  readonly step: string
  readonly error?: string
}

/** A client that is none of ours, in a language that is not, which shows that the emulator is what it takes it for. */
export interface Witness {
  readonly name: string
  /** Puts in place what it needs. Resolves with the reason if it can't run on this machine. */
  prepare(): Promise<{ readonly missing?: string }>
  /** Runs it against an emulator of its own. */
  run(): Promise<readonly Step[]>
}

/** Takes a step: what it throws is the step's error, and the next one is tried all the same. */
export async function takeStep(step: string, check: () => void | Promise<void>): Promise<Step> {
  try {
    await check()
    return { step }
  } catch (error) {
    return { step, error: error instanceof Error ? error.message : String(error) }
  }
}
