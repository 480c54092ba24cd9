import type { SteadyClock } from '../support/clock.ts'

export interface TaskRunnerOptions {
  readonly clock: SteadyClock
  /** The pause after a task, in ms. */
  readonly pauseMs: () => number
  /** Called when no task has run during the pause. */
  readonly afterPause: () => void
}

/** Runs one task at a time, and reports when nothing has run for a while. */
export function createTaskRunner({ clock, pauseMs, afterPause }: TaskRunnerOptions) {
  let underWay: Promise<void> | undefined
  let cancelPause = () => {}
  let closed = false
  return {
    isBusy: () => underWay !== undefined,
    /** To be called while no other task runs. */
    run(task: () => Promise<void>): Promise<void> {
      cancelPause()
      underWay = task().finally(() => {
        underWay = undefined
        if (!closed) cancelPause = clock.setTimer(pauseMs(), afterPause)
      })
      return underWay
    },
    /** Resolves when the task that runs has ended. */
    async close(): Promise<void> {
      closed = true
      cancelPause()
      await underWay?.catch(() => {})
    },
  }
}
