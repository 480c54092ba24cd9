/** The end of whoever started a command, so that an aborted test run leaves nothing behind: its process is gone, or its pipe is closed. */
import { codeOf } from '../../../../src/support/process/error-code.ts'

/** How often it is looked, in milliseconds. */
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
    // A late error of a stream that nobody reads any more is nobody's.
    stdin.on('error', () => {})
    stdin.destroy()
  }
  for (const event of events) stdin.once(event, end)
  stdin.resume()
  return stop
}
