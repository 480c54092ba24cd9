/** What the sides of a component share: their options, and what an input side is to `Binding`, by push and by pull. */

import type { CredentialOptions } from '../azure/credential.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import type { ErrorHandler } from '../core/event.ts'
import type { Logger } from '../core/logger.ts'
import type { CredentialMetadata, OutputMetadata, PushMetadata } from '../metadata/typed/metadata.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import type { ListenAddress } from './binding-component.ts'
import type { InputHealth } from './health.ts'

export interface SideOptions extends Pick<CredentialOptions, 'endpoints' | 'hostCredential'> {
  readonly logger: Logger
  /** Gets the error of each failed handler call. @default none */
  readonly onError?: ErrorHandler | undefined
  /** Every secret of the component, for texts from outside that may repeat one. @default none */
  readonly secrets?: () => readonly string[]
  /** The clock of the watch over the event subscription. @default systemClock */
  readonly clock?: SteadyClock
}

/** The input side: a listener or a receiver, and its event subscription. */
export interface InputSide {
  /** Where the listener listens; `undefined` for pull delivery, and while it does not listen. */
  address(): ListenAddress | undefined
  /** The metadata by which it accepts deliveries: its own, then former ones. */
  accepts(): readonly PushMetadata[]
  /** Listens, by push. It is closed where that fails. */
  listen(signal: AbortSignal): Promise<void>
  /**
   * Creates or updates the event subscription: `wait` until it is provisioned, or in the `background`.
   *
   * @param formerUpkeep the promise of `endUpkeep` of the former side. Nothing is read before that promise has resolved
   */
  start(subscription: 'wait' | 'background', signal: AbortSignal, formerUpkeep?: Promise<void>): Promise<void>
  /** Ends the watch over the event subscription. Resolves when its last call to Azure has ended. Never rejects. */
  endUpkeep(): Promise<void>
  handlerChanged(): void
  health(): InputHealth
  /** Whether a handler runs. */
  isHandling(): boolean
  /** Takes nothing new, and frees the port at once. Handlers go on. */
  stop(): void
  /**
   * Takes nothing new, which is answered 503 by push, waits for the handlers under way, `handlerTimeout` at the longest, and lets their
   * events be settled.
   *
   * @param hurry aborts when open requests to a namespace are to end; until then each ends by itself. @default at once
   */
  close(hurry?: AbortSignal): Promise<void>
}

/** Makes the credential of a side that asks no Resource Manager. Entra's libraries are loaded only where a token is asked for. */
export async function loadCredential(
  metadata: CredentialMetadata | undefined,
  { environment }: Pick<OutputMetadata, 'environment'>,
  options: SideOptions,
): Promise<RenewableCredential> {
  const { createCredential } = await import('../azure/credential.ts')
  return createCredential(metadata, { ...options, environment })
}
