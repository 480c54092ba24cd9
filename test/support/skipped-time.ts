import { onTestFinished, vi } from 'vitest'

/** Lets the machine's steady clock run ahead until the test ends. Gives a function that sets how far, in ms. */
export function skipTime(): (aheadMs: number) => void {
  const elapsed = performance.now.bind(performance)
  let ahead = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + ahead)
  onTestFinished(() => clock.mockRestore())
  return (aheadMs) => {
    ahead = aheadMs
  }
}
