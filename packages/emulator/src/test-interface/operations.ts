/** Which operations the interface has, and which member of the emulator answers each. */
import { faultSchema } from '../server/faults.ts'
import { publishLimits } from '../topics/parse-published.ts'
import {
  askSources,
  awaitEvents,
  eventDetail,
  madeSubscription,
  peekQueue,
  redeliver,
  tryAllNow,
  tryEventNow,
  unservedSubscriptions,
} from './actions.ts'
import * as answers from './answers.ts'
import { environmentAnswer } from './environment.ts'
import { type Live, operation, type TestedEmulator, type TestOperation } from './operation.ts'
import { StillPendingError } from './pending-work.ts'
import { TestInterfaceProblem } from './problem.ts'
import { viewPublishedEvents, wantedEvents } from './published-events.ts'
import * as requests from './requests.ts'

const defaultTimeout = '10s'

const rolesOf = (emulator: TestedEmulator, clientId: string) => ({
  roles: emulator.roles(clientId).map(({ role, scope = '/' }) => ({ role, scope })),
})

const firstTopic = ({ sources }: Live) => sources.store.resources('topics')[0]?.name ?? ''

export const operations: readonly TestOperation[] = [
  operation({
    ...{ method: 'GET', path: '/emulator/events', id: 'listEvents' },
    summary: 'Events that were published, oldest first, and what became of each at every event subscription',
    ...{ query: requests.eventsQuery, answer: answers.eventsAnswer },
    unknown: 404,
    refusals: { 404: 'There is no such topic.' },
    run: ({ emulator, query }) => emulator.events(query),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/events/{key}', id: 'getEvent' },
    summary: 'An event, what became of it, and its last attempts with their requests and answers',
    answer: answers.eventAnswer,
    refusals: { 404: 'The event is no longer kept.' },
    run: ({ live, name }) => eventDetail(live.sources, name),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/events/{key}/redeliver', id: 'redeliver' },
    summary: 'Delivers an event to an event subscription once more',
    body: requests.eventActionRequest,
    refusals: { 404: 'The event is no longer kept.', 409: 'The event is under way, or cannot be delivered again.' },
    run: ({ live, name, body }) => redeliver(live.sources, name, body.subscription),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/events/{key}/try-now', id: 'tryNow' },
    summary: 'Makes the next attempt of an event that waits for it at once',
    body: requests.eventActionRequest,
    refusals: { 404: 'The event is no longer kept.', 409: 'The event waits for no attempt.' },
    run: ({ live, name, body }) => tryEventNow(live.sources, name, body.subscription),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/subscriptions', id: 'listSubscriptions' },
    summary: 'All event subscriptions of topics, domains and other sources, with their state',
    answer: answers.subscriptionsAnswer,
    run: ({ live }) => ({ subscriptions: live.subscriptions() }),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/subscriptions', id: 'putSubscription' },
    summary: 'Makes an event subscription, or replaces the one with that name, and waits for its handshake',
    ...{ body: requests.subscriptionRequest, needsBody: true, answer: answers.subscriptionAnswer },
    refusals: { 409: 'The event subscription is there, but its endpoint has not consented.' },
    run: ({ emulator, live, body }) => madeSubscription(live, emulator.addEventSubscription(body)),
  }),
  operation({
    ...{ method: 'DELETE', path: '/emulator/subscriptions', id: 'removeSubscription' },
    summary: 'Removes an event subscription with its waiting events',
    query: requests.subscriptionQuery,
    unknown: 404,
    refusals: { 404: 'There is no such event subscription.' },
    run({ emulator, live, query: { name, topic, scope = topic ?? firstTopic(live) } }) {
      if (!emulator.eventSubscription(scope, name)) {
        throw new TestInterfaceProblem(404, 'there is no such event subscription')
      }
      emulator.removeEventSubscription(scope, name)
    },
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/subscriptions/{name}/try-now', id: 'tryAllNow' },
    summary: 'Makes the next attempts of all events that wait for an event subscription at once',
    refusals: { 404: 'There is no such event subscription.', 409: 'No event waits for an attempt.' },
    run: ({ live, name }) => tryAllNow(live.sources, name),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/subscriptions/{name}/queue', id: 'peekQueue' },
    summary: 'The oldest 50 events of a Queue event subscription, which stay there',
    answer: answers.queueAnswer,
    refusals: { 404: 'There is no such event subscription.', 409: 'Several event subscriptions have this name.' },
    run: ({ live, name }) => ({ events: peekQueue(live.sources, name) }),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/search', id: 'searchEvents' },
    summary: 'The keys of the events of the page whose bodies hold a text, in any letter case',
    ...{ query: requests.searchQuery, answer: answers.searchAnswer },
    run: ({ live, query }) => ({ keys: live.search(query.text) }),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/state', id: 'getState' },
    summary: 'Topics, event subscriptions and queues as they are, figures, the latest events and the refused publishes',
    answer: answers.stateAnswer,
    run: ({ live }) => live.state(),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/figures', id: 'getFigures' },
    summary: 'Counts since the start, and those of each of the last 120 seconds',
    answer: answers.figuresAnswer,
    run: ({ live }) => live.figures(),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/stream', id: 'stream' },
    summary:
      'Server-sent events, JSON each: state, as GET /emulator/state answers; then what changes of it: events, gone (their keys), ' +
      'resources, refused and figures. For sixteen clients; one more gets full and is ended',
    isStream: true,
    run: () => undefined,
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/dead-letters', id: 'listDeadLetters' },
    summary: 'Dead letters with their reason, also without a storage account',
    answer: answers.deadLettersAnswer,
    run: ({ emulator }) => ({ deadLetters: emulator.deadLetters() }),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/requests', id: 'listRequests' },
    summary: 'Requests that the emulator answered, secrets masked',
    ...{ query: requests.requestsQuery, answer: answers.requestsAnswer },
    run: ({ emulator, query }) => ({ requests: emulator.requests(query) }),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/settle', id: 'settle' },
    summary: 'Waits until no event is pending; later attempts and dead letters count too',
    ...{ body: requests.settleRequest, answer: answers.settleAnswer },
    refusals: {
      408: 'Events were still pending when the time was over.',
      409: 'Nothing is pending, but event subscriptions that match events did not get them.',
    },
    async run({ emulator, live, body }) {
      const timeout = requests.durationMs(body.timeout ?? defaultTimeout)
      try {
        await emulator.settled({ timeout })
        const unserved = unservedSubscriptions(live.sources)
        if (unserved.length === 0) return { settled: true } as const
        const because = unserved.map((one) => `${one.subscription}: ${one.because}`)
        throw new TestInterfaceProblem(409, `events were not delivered to ${because.join('; ')}`, { unserved })
      } catch (error) {
        if (!(error instanceof StillPendingError)) throw error
        throw new TestInterfaceProblem(408, error.message, { pending: error.pending })
      }
    },
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/wait', id: 'wait' },
    summary: 'Waits until so many events are there, those too that are not published yet',
    ...{ body: requests.waitRequest, answer: answers.eventsAnswer },
    refusals: { 408: 'Fewer events were there when the time was over.' },
    async run({ live, body: { timeout = defaultTimeout, count = 1, limit = Number.POSITIVE_INFINITY, ...wanted } }) {
      const found = () => wantedEvents(live.sources, wanted)
      const timeoutMs = requests.durationMs(timeout)
      const kept = await awaitEvents(live.sources, { count, timeoutMs, found })
      const answer = viewPublishedEvents(live.sources, kept.slice(-limit))
      if (kept.length >= count) return answer
      throw new TestInterfaceProblem(408, `after ${timeout} ${kept.length} of ${count} such events are there`, {
        events: answer.events,
      })
    },
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/reset', id: 'reset' },
    summary: 'Forgets events, queues, records and faults; topics and event subscriptions stay',
    body: requests.resetRequest,
    run: ({ emulator, body }) => emulator.reset(body),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/faults', id: 'addFault' },
    summary: 'Makes the next calls of a part of the emulator fail',
    ...{ body: faultSchema, needsBody: true },
    run: ({ emulator, body }) => emulator.failNext(body),
  }),
  operation({
    ...{ method: 'DELETE', path: '/emulator/faults', id: 'removeFaults' },
    summary: 'Takes all faults back, those too that delay a call at this moment',
    run: ({ emulator }) => emulator.clearFaults(),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/clock', id: 'advanceClock' },
    summary: 'Moves the manual clock, and waits for what becomes due meanwhile',
    ...{ body: requests.clockRequest, needsBody: true, answer: answers.clockAnswer },
    refusals: { 409: 'The emulator has no manual clock.' },
    async run({ emulator, body }) {
      const ms = requests.durationMs(body.advance)
      if (emulator.environment().clock !== 'manual') {
        throw new TestInterfaceProblem(409, "the emulator goes by the machine's clock: start it with --manual-clock")
      }
      return { now: await emulator.advance(ms) }
    },
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/topics/{name}/raise', id: 'raise' },
    summary: "Raises events at a topic, a domain, a system topic, or any resource by its id, as Azure's services do",
    ...{
      body: requests.raiseRequest,
      needsBody: true,
      bodyLimit: publishLimits.requestBytes,
      answer: answers.raiseAnswer,
    },
    unknown: 404,
    refusals: { 404: 'There is no such topic.', 429: 'Too many events are pending.' },
    async run({ emulator, live, isFull, name, body }) {
      if (isFull()) throw new TestInterfaceProblem(429, 'too many events are pending')
      const events = Array.isArray(body) ? body : [body]
      await askSources(live.sources, name, events)
      emulator.raise(name, events)
      return { raised: events.length }
    },
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/topics/{name}/publish', id: 'publish' },
    summary: "Publishes as a client of the topic does, with the topic's key; a missing id or time is added",
    ...{
      body: requests.publishRequest,
      needsBody: true,
      // The topic's own limit, and room for JSON escapes.
      bodyLimit: 2 * publishLimits.requestBytes,
      answer: answers.publishAnswer,
    },
    refusals: { 404: 'There is no such topic.' },
    run: ({ live, name, body }) => live.publish(name, body.events),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/roles', id: 'assignRole' },
    summary: 'Gives a client a role',
    ...{ body: requests.roleRequest, needsBody: true, answer: answers.rolesAnswer },
    run({ emulator, body: { clientId = emulator.clientId, role, scope } }) {
      emulator.assignRole(clientId, role, scope)
      return rolesOf(emulator, clientId)
    },
  }),
  operation({
    ...{ method: 'DELETE', path: '/emulator/roles', id: 'removeRole' },
    summary: 'Takes a role from a client, or all its roles',
    ...{ query: requests.roleQuery, answer: answers.rolesAnswer },
    run({ emulator, query: { clientId = emulator.clientId, role, scope } }) {
      if (role !== undefined) emulator.removeRole(clientId, role, scope)
      else if (scope === undefined) emulator.removeRoles(clientId)
      else throw new TestInterfaceProblem(400, 'scope needs a role beside it')
      return rolesOf(emulator, clientId)
    },
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/assertions', id: 'makeAssertion' },
    summary: 'A signed token that Entra takes as client_assertion of a client, as of a workload identity, for an hour',
    ...{ body: requests.assertionRequest, answer: answers.assertionAnswer },
    run: async ({ emulator, body }) => ({ assertion: await emulator.assertion(body.clientId) }),
  }),
  operation({
    ...{ method: 'POST', path: '/emulator/keys/rotate', id: 'rotateKeys' },
    summary: 'Has Entra sign tokens with a new key, as in a rotation of its keys',
    body: requests.rotateRequest,
    run: ({ emulator, body }) => emulator.rotateKeys(body),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/environment', id: 'getEnvironment' },
    summary: 'Where the emulator is, with keys, and the environment for each language',
    answer: environmentAnswer,
    run: ({ emulator }) => emulator.environment(),
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/endpoints', id: 'getEndpoints' },
    summary:
      'The endpoints in the form of the option endpoints of the binding: for programs that use the emulator in place of Azure',
    answer: answers.endpointsAnswer,
    run({ emulator }) {
      const { https, ca } = emulator.environment()
      return { resourceManager: https, authorityHost: https, ca, topics: https }
    },
  }),
  operation({
    ...{ method: 'GET', path: '/emulator/openapi.json', id: 'getDocument' },
    summary: 'This document',
    answer: answers.documentAnswer,
    run: ({ document }) => document(),
  }),
]
