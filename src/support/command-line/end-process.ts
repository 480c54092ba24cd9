// Exit of the process, even with a hanging network mount; 1 s patience.

/**
 * Ends the process at once with an exit code. `process.exit` waits for ever where a thread waits for a file system that
 * hangs, as a network mount does. Replacing the program ends such threads, and works as PID 1 of a container, which can't
 * kill itself.
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
