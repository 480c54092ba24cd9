import type { SteadyClock } from '../support/clock.ts'

/** Longest time to wait for our credential in the event subscription, in ms. To add it takes some seconds. */
const maxWaitMs = 30_000

export interface ReadinessOptions {
  readonly clock: SteadyClock
  /** Whether deliveries have to bear a credential that we add to the event subscription. */
  readonly addsCredential: boolean
}

/** Decides whether deliveries may be routed to this replica. Once it is ready it stays so. */
export function createReadiness({ clock, addsCredential }: ReadinessOptions) {
  let isReady = !addsCredential
  let waitsUntil = Number.POSITIVE_INFINITY
  return {
    isReady: () => isReady || clock.elapsed() >= waitsUntil,
    /** Limits the wait, from now on. */
    startWaiting(): void {
      waitsUntil = clock.elapsed() + maxWaitMs
    },
    /** The event subscription was read. Where it does not deliver yet, its handshake has to reach us. */
    subscriptionRead(delivering: boolean): void {
      isReady ||= !delivering
    },
    /** The event subscription has our credential. */
    provisioned(): void {
      isReady = true
    },
  }
}
