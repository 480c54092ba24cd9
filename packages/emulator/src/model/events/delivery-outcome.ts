// Names of delivery outcomes (`TimedOut`, `Busy`, `SocketError`) and give-up reasons.

/** How a delivery attempt ended, in the words of dead-lettered events (Event Grid: delivery-and-retry). */
export type DeliveryOutcome =
  | 'Delivered'
  | 'NotFound'
  | 'Unauthorized'
  | 'Forbidden'
  | 'BadRequest'
  | 'TimedOut'
  | 'Busy'
  | 'PayloadTooLarge'
  | 'SocketError'
  | 'ResolutionError'
  | 'Aborted'
  | 'Probation'

/** Why an event is given up. Event Grid documents only the first; the other two names are the emulator's own. */
export type GiveUpReason = 'MaxDeliveryAttemptsExceeded' | 'TimeToLiveExceeded' | 'UndeliverableDueToClientError'

/** How long a validation is of interest, and how often an endpoint that waits for a manual one is asked again. */
export interface Asking {
  /** Aborts when the event subscription is changed or deleted. */
  readonly over: AbortSignal
  /** @default it is asked once */
  readonly pauseMs?: number | undefined
}

/** The result of validating the endpoint of an event subscription. */
export type ValidationOutcome =
  | { readonly outcome: 'validated' }
  | {
      readonly outcome: 'awaiting-manual-action'
      readonly validationUrl: string
      /** Resolves when the URL was called, or after its time by the emulator's clock. Never rejects. */
      readonly completed: Promise<'validated' | 'expired'>
    }
  | { readonly outcome: 'failed'; readonly code: 'Url validation'; readonly message: string }
