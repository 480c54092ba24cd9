/** Counts what is under way, and tells when nothing is. */
export interface WorkCounter {
  begin(): void
  end(): void
  /** Resolves as soon as nothing is under way, at once if nothing is. */
  idle(): Promise<void>
}

/** Makes a counter at zero. */
export function createWorkCounter(): WorkCounter {
  let underWay = 0
  let waiting: (() => void)[] = []
  return {
    begin: () => void underWay++,
    end() {
      underWay--
      if (underWay > 0) return
      const told = waiting
      waiting = []
      for (const tell of told) tell()
    },
    async idle() {
      // Again after waking: whoever was told first may have begun something.
      while (underWay > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
