/** Which resources, figures and refused requests the state of the emulator has, and how many of them at most. */

import type { DeliveryEngine } from '../delivery/delivery-engine.ts'
import type { Directory } from '../entra/directory.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { textOf } from '../model/events/event-text.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type { NamespaceStore } from '../model/resources/namespace.ts'
import type { Store } from '../model/resources/store.ts'
import type { Clock } from '../model/time/clock.ts'
import type { NamespaceQueues } from '../namespaces/namespace-queues.ts'
import type { EventTrail } from '../records/event-trail.ts'
import { type Figures, secondsRemembered } from '../records/figures.ts'
import type { HandshakeRecord, Records } from '../records/record-types.ts'
import { createShownEvents } from './shown-events.ts'
import {
  viewEvent,
  viewNamespaceTopic,
  viewPublished,
  viewQueue,
  viewRefused,
  viewSubscription,
} from './shown-resources.ts'

/** What is told of and acted on. */
export interface LiveSources {
  readonly clock: Clock
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly queues: Pick<NamespaceQueues, 'figures' | 'queue'>
  readonly records: Pick<Records, 'handshakes' | 'deadLetters' | 'requests'>
  /** The number of pending events. */
  readonly pending: () => number
  readonly trail: EventTrail
  /** Why the emulator could not write its state last; undefined where it could. */
  readonly problem: () => string | undefined
  readonly engine: Pick<DeliveryEngine, 'redeliver' | 'undelivered' | 'tryNow' | 'queue'>
  readonly figures: Figures
  /** Has the endpoints of event subscriptions at these sources asked again that have not consented; resolves when they have answered. */
  readonly askAgain: (sources: readonly string[]) => Promise<void>
  /** Without a trailing slash; known once the server listens. */
  readonly addresses: { readonly https: string; readonly http: string }
  readonly directory: Directory
  readonly tokens: Pick<TokenIssuer, 'issueClientToken'>
}

/** The maximum number of topics, of event subscriptions and of queues that are shown. */
const shownResources = 200
/** The maximum number of refused publishes: the latest. */
const shownRefusals = 20
/** The maximum number of handshakes in memory, one per subscription. */
const rememberedHandshakes = 1000

const shown = <T>(list: readonly T[]) => list.slice(0, shownResources)
const notShown = (list: readonly unknown[]) => list.length - shown(list).length

export type LiveView = ReturnType<typeof createLiveView>

/** The same as plain JSON values, at the moment it is asked. */
export function createLiveView(sources: LiveSources) {
  const { clock, records, store, namespaces, trail, figures, addresses } = sources
  const shownEvents = createShownEvents(trail)
  const handshakes = new Map<string, HandshakeRecord>()
  records.handshakes.listen((handshake) => {
    const id = handshake.subscriptionId.toLowerCase()
    // Anew at the end, so that those that are long over make room first.
    handshakes.delete(id)
    handshakes.set(id, handshake)
    const [oldest] = handshakes.size > rememberedHandshakes ? handshakes.keys() : []
    if (oldest !== undefined) handshakes.delete(oldest)
  })

  const deadLettered = new Map<string, number>()
  records.deadLetters.listen(({ subscriptionId, events }) => {
    if (!namespaces.subscriptions.get(subscriptionId)) return
    deadLettered.set(subscriptionId, (deadLettered.get(subscriptionId) ?? 0) + events.length)
  })

  let refused: readonly ReturnType<typeof viewRefused>[] = []
  records.requests.listen((request) => {
    if (request.status >= 400 && request.publish && !request.publish.isCheck)
      refused = [viewRefused(request), ...refused].slice(0, shownRefusals)
  })

  trail.listen({
    changed: () => {},
    gone: () => {},
    cleared() {
      deadLettered.clear()
      refused = []
    },
  })

  const viewOf = (one: EventSubscription) =>
    viewSubscription(one, {
      handshake: handshakes.get(one.id.toLowerCase()),
      warning: sources.engine.undelivered(one),
      queue: sources.engine.queue(one.id),
    })

  return {
    /** All event subscriptions. */
    subscriptions: () => store.subscriptions.all().map(viewOf),
    /** Topics, event subscriptions, and Queue event subscriptions of namespace topics. */
    resources() {
      const counts = sources.queues.figures()
      const queues = namespaces.subscriptions.all()
      const namespaceTopics = namespaces.topics.all()
      const topics = [...store.resources('topics'), ...store.resources('domains')]
      const systemTopics = store.resources('systemTopics')
      const domainTopics = store.resources('domains/topics')
      const subscriptions = store.subscriptions.all()
      return {
        topics: shown(topics).map((topic) => viewPublished(topic, addresses, domainTopics)),
        systemTopics: shown(systemTopics).map(({ id, name, source }) => ({ id, name, source })),
        namespaceTopics: shown(namespaceTopics).map((topic) => viewNamespaceTopic(topic, addresses.https)),
        subscriptions: shown(subscriptions).map(viewOf),
        queues: shown(queues).map((queue) => viewQueue(queue, counts.get(queue.id), deadLettered.get(queue.id))),
        more: {
          queues: notShown(queues),
          topics: notShown(topics) + notShown(systemTopics) + notShown(namespaceTopics),
          subscriptions: notShown(subscriptions),
        },
      }
    },
    /** The emulator's time, counts, and the plots' seconds since a time. */
    figures(since = 0) {
      const now = clock.now()
      // The current second, and the previous one, whose figures may have changed since they were sent.
      const seconds = Math.min(Math.ceil((now - since) / 1000) + 2, secondsRemembered)
      return {
        now,
        ...(sources.problem() !== undefined && { trouble: sources.problem() }),
        totals: { ...figures.totals(), pending: sources.pending() },
        leftOut: shownEvents.leftOut(),
        series: figures.series(seconds),
      }
    },
    /** The keys of the shown events whose bodies hold a text, in any letter case. */
    search(text: string): readonly number[] {
      const wanted = text.toLowerCase()
      return shownEvents
        .events()
        .flatMap(({ key, event }) => (textOf(event.body).toLowerCase().includes(wanted) ? [key] : []))
    },
    /** The latest refused publishes, newest first. */
    refused: () => refused,
    /** The maximum number of events. */
    limit: shownEvents.limit,
    /** Those that are shown, newest first. */
    events: () => shownEvents.events().map(viewEvent),
    /** Tells a listener of the changes of these. */
    listen: shownEvents.listen,
  }
}
