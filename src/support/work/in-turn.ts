/** Pieces of work one after the other; one that fails does not stop those behind it. */

/** Makes a function that runs pieces of work in the order of its calls. The caller gets the result or the error of its own. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}
