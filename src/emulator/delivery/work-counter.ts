/** Counts what is under way, and tells when nothing is. */
export interface WorkCounter {
  begin(): void
  end(): void
  /** Resolves as soon as nothing is under way, at once if nothing is. */
  idle(): Promise<void>
  /**
   * Resolves when nothing is under way, or what is makes no headway for a quarter of a second of real time: a
   * subscriber that keeps silent must not stop a clock moved by hand, or its time-out would never come.
   */
  quiet(): Promise<'idle' | 'stalled'>
}

const roundMs = 50
const rounds = 5

/** Makes a counter at zero. */
export function createWorkCounter(): WorkCounter {
  let underWay = 0
  let steps = 0
  let waiting: (() => void)[] = []

  const idle = async () => {
    // Again after waking: whoever was told first may have begun something.
    while (underWay > 0) await new Promise<void>((resolve) => waiting.push(resolve))
  }

  return {
    begin() {
      underWay++
      steps++
    },
    end() {
      underWay--
      steps++
      if (underWay > 0) return
      const told = waiting
      waiting = []
      for (const tell of told) tell()
    },
    idle,
    quiet() {
      if (underWay === 0) return Promise.resolve('idle')
      return new Promise((resolve) => {
        let seen = steps
        let still = 0
        // In rounds, so that a process that stood still itself counts as one of them only.
        const timer = setInterval(() => {
          still = steps === seen ? still + 1 : 0
          seen = steps
          if (still >= rounds) done('stalled')
        }, roundMs)
        const done = (state: 'idle' | 'stalled') => {
          clearInterval(timer)
          resolve(state)
        }
        void idle().then(() => done('idle'))
      })
    },
  }
}
