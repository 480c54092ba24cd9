/** Push delivery put together: the listener, and the watch over its event subscription. */
import { isSamePlace } from '../../listener/former-deliveries.ts'
import { createListener, type ListenerOptions } from '../../listener/listener.ts'
import type { PushMetadata } from '../../metadata/typed/metadata.ts'
import { decideInputHealth } from '../health.ts'
import type { InputSide, SideOptions } from '../side.ts'
import type { SubscriptionControl } from '../upkeep/subscription-control.ts'
import { createSubscriptionKeeper } from '../upkeep/subscription-keeper.ts'
import type { SubscriptionState } from '../upkeep/subscription-state.ts'

export interface PushOptions extends SideOptions, Pick<ListenerOptions, 'handler' | 'fastify' | 'formers'> {
  /**
   * Deliveries were routed to the former side. So deliveries by a former credential may be routed here before the event subscription is
   * read.
   * @default false
   */
  readonly wasReady?: boolean
}

/**
 * Makes the listener, and `listen` opens its port. The event subscription comes last: Event Grid shakes hands with a listener that is
 * up.
 */
export async function createPushSide(input: PushMetadata, options: PushOptions): Promise<InputSide> {
  const { clock, wasReady = false, ...common } = options
  const { logger, handler, formers = [] } = common
  const declared: { attributes: readonly string[] | undefined } = { attributes: undefined }
  let connecting: Promise<SubscriptionControl> | undefined
  const connect = () => {
    connecting ??= import('../upkeep/subscription-control.ts').then(({ connectSubscription }) =>
      connectSubscription({
        ...options,
        input,
        onAttributes(names) {
          declared.attributes = names
        },
      }),
    )
    return connecting
  }
  const { provisioning } = input
  const takesFormer = formers.some((former) => isSamePlace(former, input))
  const keeper =
    provisioning === 'none'
      ? undefined
      : createSubscriptionKeeper({
          connect,
          logger,
          provisioning,
          addsCredential: input.deliveryAuthentication.kind === 'secret' && !(wasReady && takesFormer),
          ...(clock && { clock }),
        })

  let closed = false
  let former: Promise<void> | undefined
  const endUpkeep = async () => void (await Promise.all([former, keeper?.close()]))
  const stateNow = (): SubscriptionState => keeper?.state() ?? { state: 'unmanaged' }
  const mayBeRouted = () => keeper?.isReady() ?? true
  const listener = await createListener({
    ...common,
    input,
    // Anybody who reaches the port may know it: no names and no messages of Azure.
    health: () => ({
      status: 'up',
      eventSubscription: stateNow().state,
      handler: handler.current === undefined ? 'missing' : 'attached',
    }),
    declared,
    mayBeRouted,
    onForeignDelivery: () => keeper?.repair(),
    onSubscriptionDeleted: () => keeper?.deleted(),
    // What somebody else writes may change at any time: a token that fails then must not cost an event.
    subscriptionWrittenAt: () => (provisioning === 'manage' ? keeper?.standsSince() : undefined),
    credentialReadAt() {
      const [standsSince, carriesSince] = [keeper?.standsSince(), keeper?.carriesOursSince()]
      return standsSince === undefined || carriesSince === undefined ? undefined : Math.max(standsSince, carriesSince)
    },
  })

  return {
    address: listener.address,
    accepts: listener.accepts,
    async listen(signal) {
      await listener.listen(signal)
      const { address, port } = listener.address() ?? {}
      logger.info('listening for handshakes and deliveries', { address, port })
    },
    async start(subscription, signal, formerUpkeep) {
      former = formerUpkeep
      if (!keeper) return
      // What is wrong with endpoint or credential ends init, also where the event subscription comes up in the background.
      await connect()
      if (subscription === 'wait') return keeper.bringUp('timeout', signal, formerUpkeep)
      // In the background only close ends the tries; the failure of each is logged by the upsert itself.
      keeper.bringUp('forever', undefined, formerUpkeep).catch(() => {})
    },
    endUpkeep,
    // The listener asks for the handler at each delivery.
    handlerChanged() {},
    health: () =>
      decideInputHealth(
        {
          closed,
          listener: listener.status(),
          handler,
          manages: provisioning === 'manage',
          subscription: stateNow(),
          timesDeleted: keeper?.timesDeleted() ?? 0,
          mayBeRouted: mayBeRouted(),
        },
        Date.now(),
      ),
    stop: listener.stop,
    isHandling: () => listener.status().running > 0,
    async close() {
      await Promise.all([listener.drain(), endUpkeep()])
      await listener.close()
      closed = true
    },
  }
}
