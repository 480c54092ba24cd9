/** Work that nobody waits for: what it throws is handed on, because a rejection that nobody hears ends the process. */

/** @param failed gets what the work rejects with; what it throws itself is dropped */
export function inBackground(work: Promise<unknown>, failed: (error: unknown) => void): void {
  work.catch(failed).catch(() => {})
}
