/** Whether the process that started a command has ended, so that an aborted test run leaves nothing behind. */
import { codeOf } from '../../../../src/support/process/error-code.ts'

/** The pause between two looks at the process, in milliseconds. */
const pauseMs = 500

/** Whether there is a process of this id. One that may not be signalled is there. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

/** Calls back once when there is no process of this id any more. Returns a function that ends the watch. */
export function watchParent(pid: number, gone: () => void): () => void {
  const timer = setInterval(() => {
    if (isThere(pid)) return
    clearInterval(timer)
    gone()
  }, pauseMs).unref()
  return () => clearInterval(timer)
}

/** Calls back once when standard input has ended; what comes before is dropped. Returns a function that ends the watch. */
export function watchStandardInput(ended: () => void): () => void {
  const { stdin } = process
  const end = () => {
    stop()
    ended()
  }
  const events = ['end', 'close', 'error'] as const
  const stop = () => {
    for (const event of events) stdin.off(event, end)
    // Nobody reads the stream any more, so a late error of it is dropped.
    stdin.on('error', () => {})
    stdin.destroy()
  }
  for (const event of events) stdin.once(event, end)
  stdin.resume()
  return stop
}
