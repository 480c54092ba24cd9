/** Deliveries that arrive together are worked off together, up to 32 or `maxConcurrency`: half the processor time under load. */
import { AsyncResource } from 'node:async_hooks'
import { realTimers } from '../../support/time/real-timers.ts'

/** Steps that may wait: more gain nothing, and requests take memory. */
const maxWaiting = 32
/** Bytes of all that may wait. */
const maxBytes = 65_536

/** The steps of this turn, of all listeners of the process: they share its event loop. */
let waiting: { readonly context: AsyncResource; readonly step: () => void }[] = []
let waitingBytes = 0

/**
 * Collects the steps of one turn of the event loop. They are taken one after another when the turn ends, or when they reach a bound: all
 * handlers run first, then all answers are sent. The code is then still in the processor's caches, and who waits for the answers is woken
 * once. Each step runs in the asynchronous context in which it was added. It must not throw: those behind it would be dropped.
 *
 * @param bytes memory that the step holds
 * @param maxSteps as soon as so many steps wait, this one included, all are taken at once; 32 at most
 */
export function addToTurn(step: () => void, bytes: number, maxSteps: number): void {
  waiting.push({ context: new AsyncResource('EventGridDelivery'), step })
  waitingBytes += bytes
  if (waiting.length >= Math.min(maxSteps, maxWaiting) || waitingBytes > maxBytes) workOff()
  // Node calls back after it has read from the sockets that are ready.
  else if (waiting.length === 1) realTimers.setImmediate(workOff)
}

function workOff(): void {
  const steps = waiting
  waiting = []
  waitingBytes = 0
  for (const { context, step } of steps) context.runInAsyncScope(step)
}
