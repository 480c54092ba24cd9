/** The end of a process with an exit code, also while a file system hangs. */

/**
 * Ends the process at once. `process.exit` waits for each thread: with a read that hangs, as on a network mount, it had not ended in
 * 20 s, and a new program in the process's place ends in 0.3 s, also as PID 1 of a container, which can't kill itself.
 */
export function endProcess(code: number): never {
  const isStuck = process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'))
  if (isStuck && process.execve) {
    process.emit('exit', code)
    process.execve(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {})
  }
  process.exit(code)
}

const patienceMs = 1_000

/** Has the process end with an exit code once nothing is under way any more, a second later at the latest. */
export function endProcessSoon(code: number): void {
  process.exitCode = code
  setTimeout(() => endProcess(code), patienceMs).unref()
}
