/** The Prometheus metrics `eventgrid_binding_*`: names, labels and help texts. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type Health, healthStatuses, type InputHealth, unhealthyCauses } from '../../binding/health.ts'
import { subscriptionStates } from '../../binding/upkeep/subscription-state.ts'
import type { Side } from '../../core/component.ts'
import type { BindingErrorCode } from '../../core/errors.ts'
import type { ConfigState } from './health-and-metrics-server.ts'

const sides = ['input', 'output'] as const satisfies readonly Side[]

const results = ['acknowledged', 'failed', 'abandoned'] as const

/** The result of an event: acknowledged, acknowledged with an error, or given up without an acknowledgement. */
export type EventResult = (typeof results)[number]

export type ComponentFigures = Readonly<ReturnType<typeof figuresOf>>

export type Metrics = ReturnType<typeof createMetrics>

export type ComponentCounters = ReturnType<Metrics['component']>

/** From a handler that answers at once to one that takes the whole of `handlerTimeout`. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 100]

export const createCodes = [
  'PAYLOAD_INVALID',
  'PAYLOAD_TOO_LARGE',
  'PUBLISH_REJECTED',
  'PUBLISH_UNAVAILABLE',
  'CREDENTIALS_REJECTED',
  'PERMISSION_DENIED',
  'OVERLOADED',
  'ABORTED',
  'CLOSED',
  'OPERATION_UNSUPPORTED',
  'SIDE_NOT_CONFIGURED',
] as const satisfies readonly BindingErrorCode[]

const deliveryStatuses = ['200', '400', '401', '403', '404', '413', '415', '500', '503']

const receiveStatuses = ['200', '400', '401', '403', '404', '410', '429', '500', '502', '503', '504', 'none']

/** The known values of a label. Their series begin at 0: otherwise Prometheus would see no increase at the first failure after a start. */
export interface KnownCodes {
  /** Of `invokes_total`. */
  readonly invoke: ReadonlySet<string>
  /** Of `inits_total`. @default none: nobody initialises the components */
  readonly init?: ReadonlySet<string>
}

/** What every metric has: its name begins with ours, and `component` is its first label. */
const optionsOf = (registry: Registry, name: string, help: string, labels: readonly string[]) => ({
  name: `eventgrid_binding_${name}`,
  help,
  labelNames: ['component', ...labels],
  registers: [registry],
})

/** @param known the labels that are there from the start. @default none */
export function createMetrics(known: KnownCodes = { invoke: new Set() }) {
  const registry = new Registry()
  let components: () => Iterable<ComponentFigures> = () => []
  let areDefaultsOn = false
  addStates(registry, () => components())

  return {
    ...createCounts(registry, known, () => components()),
    /** Sets the source of the component states: called each time the metrics are read. */
    watch(source: () => Iterable<ComponentFigures>): void {
      components = source
    },
    /** Shows from the first reading on whether the runtime has initialised anything: no other series exists before it has. */
    watchInit(wasInitialized: () => boolean): void {
      new Gauge({
        name: 'eventgrid_binding_uninitialised',
        help: '1 until an Init of daprd succeeds for the first time, then 0',
        registers: [registry],
        collect() {
          this.set(wasInitialized() ? 0 : 1)
        },
      })
    },
    /** Shows whether the files of components were taken over. */
    watchConfig: (state: () => ConfigState) => addConfig(registry, state),
    /** Shows how many lines of the log were not written. */
    watchLog(droppedLines: () => number): void {
      new Counter({
        name: 'eventgrid_binding_log_lines_dropped_total',
        help: 'Lines of the log that could not be written',
        registers: [registry],
        collect() {
          this.reset()
          this.inc(droppedLines())
        },
      })
    },
    contentType: registry.contentType,
    text(): Promise<string> {
      // The metrics of the process need a timer, so they start with the first read.
      if (!areDefaultsOn) collectDefaultMetrics({ register: registry })
      areDefaultsOn = true
      return registry.metrics()
    },
  }
}

function createCounts(registry: Registry, known: KnownCodes, components: () => Iterable<ComponentFigures>) {
  const { invoke: invokeCodes, init: initCodes = new Set<string>() } = known
  const named = (name: string, help: string, ...labels: string[]) => optionsOf(registry, name, help, labels)
  const histogram = (name: string, help: string) => new Histogram({ ...named(name, help), buckets })
  const events = new Counter({
    ...named('events_total', 'Events sent to the application, by result', 'result'),
    collect() {
      for (const { name: component, input } of components()) {
        if (input !== undefined) for (const result of results) this.inc({ component, result }, 0)
      }
    },
  })
  const eventSeconds = histogram('event_seconds', 'Time from the delivery of an event to its acknowledgement')
  const invokes = new Counter({
    ...named('invokes_total', 'Calls of the output, by gRPC status (serve) or error code (run)', 'code'),
    collect() {
      for (const { name: component, output } of components()) {
        if (output !== undefined) for (const code of invokeCodes) this.inc({ component, code }, 0)
      }
    },
  })
  const invokeSeconds = histogram('invoke_seconds', 'Time that calls of the output took')
  const inits = new Counter(named('inits_total', 'Calls of Init, by gRPC status', 'side', 'code'))
  const starts = new Gauge(named('start_time_seconds', 'When the counts of the component began, in seconds since 1970'))
  /** The codes that a component was counted with. */
  const codesOf = new Map<string, Set<string>>()

  return {
    component(component: string) {
      const codes = codesOf.get(component) ?? new Set([...invokeCodes, ...initCodes])
      codesOf.set(component, codes)
      starts.set({ component }, Date.now() / 1000)
      for (const code of initCodes) for (const side of sides) inits.inc({ component, side, code }, 0)
      // A call may end after its component was forgotten.
      const isForgotten = () => codesOf.get(component) !== codes
      return {
        event(result: EventResult, durationMs: number): void {
          if (isForgotten()) return
          events.inc({ component, result })
          eventSeconds.observe({ component }, durationMs / 1000)
        },
        /** @param code `OK`, or the name of a gRPC status (`serve`) or the code of a BindingError (`run`) */
        invoke(code: string, durationMs: number): void {
          if (isForgotten()) return
          codes.add(code)
          invokes.inc({ component, code })
          invokeSeconds.observe({ component }, durationMs / 1000)
        },
        init(side: Side, code: string): void {
          if (isForgotten()) return
          codes.add(code)
          inits.inc({ component, side, code })
        },
      }
    },
    forget(component: string): void {
      for (const result of results) events.remove({ component, result })
      for (const code of codesOf.get(component) ?? []) {
        invokes.remove({ component, code })
        for (const side of sides) inits.remove({ component, side, code })
      }
      codesOf.delete(component)
      starts.remove({ component })
      eventSeconds.remove({ component })
      invokeSeconds.remove({ component })
    },
  }
}

function addConfig(registry: Registry, state: () => ConfigState): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name: `eventgrid_binding_config_last_reload_${name}`, help, registers: [registry] },
      collect() {
        this.set(read())
      },
    })
  const successful =
    '1 where the component files were taken over when they were read last, 0 where a fault kept all as it was'
  gauge('successful', successful, () => Number(state().successful))
  const time = 'When the component files were last taken over, in seconds since 1970'
  gauge('success_timestamp_seconds', time, () => state().lastSuccess.getTime() / 1000)
  new Gauge({
    ...optionsOf(registry, 'component_left_out', '1 for a component that says ignoreErrors and failed', []),
    collect() {
      this.reset()
      for (const component of Object.keys(state().leftOut)) this.set({ component }, 1)
    },
  })
}

/** Labels beside the component's name, and a value. */
type Sample = readonly [Readonly<Record<string, string>>, number]

/** Metrics that are read from the components. */
function addStates(registry: Registry, components: () => Iterable<ComponentFigures>): void {
  type SamplesOf = (component: ComponentFigures) => readonly Sample[]
  const options = (name: string, help: string, labels: readonly string[], samplesOf: SamplesOf) => ({
    ...optionsOf(registry, name, help, labels),
    collect(this: Pick<Counter, 'reset' | 'inc'>) {
      this.reset()
      for (const one of components()) {
        for (const [labels, value] of samplesOf(one)) this.inc({ component: one.name, ...labels }, value)
      }
    },
  })
  const counter = (...given: Parameters<typeof options>) => new Counter(options(...given))
  const gauge = (...given: Parameters<typeof options>) => new Gauge(options(...given))
  const requests = 'POST requests of Event Grid other than handshakes, by the status of the answer'
  const others =
    'POST requests without a credential of ours that do not name our event subscription, by the status of the answer'
  counter('deliveries_total', requests, ['status'], ({ push }) => eachOf('status', push?.answered, deliveryStatuses))
  counter('strangers_total', others, ['status'], ({ push }) => eachOf('status', push?.strangers, deliveryStatuses))
  const state = '1 for the current state of the event subscription, 0 for the others'
  gauge('event_subscription', state, ['state'], ({ subscription }) =>
    oneOf('state', subscription?.state, subscriptionStates),
  )
  const deleted = 'Times that the event subscription was found missing after it had been there'
  counter('event_subscription_deleted_total', deleted, [], ({ subscription }) => single(subscription?.timesDeleted))
  gauge('events_in_flight', 'Events sent and not acknowledged', [], ({ inFlight }) => single(inFlight))
  gauge('events_waiting', 'Events that wait until the stream has room', [], ({ waiting }) => single(waiting))
  gauge('reads', 'Open Read streams', [], ({ readers }) => single(readers))
  const status = '1 for the current status of a side, 0 for the others'
  gauge('health', status, ['side', 'status'], ({ input, output }) =>
    Object.entries({ input, output }).flatMap(([side, is]) =>
      oneOf('status', is, healthStatuses).map(([labels, value]): Sample => [{ side, ...labels }, value]),
    ),
  )
  const cause = '1 for the cause that the input side is unhealthy by, 0 for the others'
  gauge('input_unhealthy', cause, ['cause'], ({ input, cause: is }) =>
    input === undefined ? [] : unhealthyCauses.map((one): Sample => [{ cause: one }, Number(one === is)]),
  )
  counter('pull_received_total', 'Events received, each time that they are', [], ({ pull }) => single(pull?.received))
  counter('pull_settled_total', 'Events settled, by kind', ['kind'], ({ pull }) => eachOf('kind', pull?.settled))
  counter('pull_failed_settlements_total', 'Settlements that failed', [], ({ pull }) => single(pull?.failedSettlements))
  counter('pull_lock_renewals_total', 'Locks that were renewed', [], ({ pull }) => single(pull?.lockRenewals))
  const receives = 'Receive requests, by the status of the answer'
  counter('pull_receives_total', receives, ['status'], ({ pull }) => eachOf('status', pull?.receives, receiveStatuses))
}

const single = (value: number | undefined): readonly Sample[] => (value === undefined ? [] : [[{}, value]])

/** A sample for each count, and 0 for what is known and was not counted; none where there are no counts. */
function eachOf(
  label: string,
  counts: Readonly<Record<string, number>> | undefined,
  known: readonly string[] = [],
): readonly Sample[] {
  if (!counts) return []
  const all = { ...Object.fromEntries(known.map((value) => [value, 0])), ...counts }
  return Object.entries(all).map(([value, count]) => [{ [label]: value }, count])
}

/** 1 for what is the case, 0 for the others; none where nothing is known. */
const oneOf = (label: string, is: string | undefined, all: readonly string[]): readonly Sample[] =>
  is === undefined ? [] : all.map((value) => [{ [label]: value }, value === is ? 1 : 0])

/** What `serve` or `run` counts of a component. */
interface Counted {
  readonly inFlight: number
  /** Absent for `run`, which has no streams. */
  readonly waiting?: number
  /** Open `Read` streams; absent for `run`. Not shown of a component that only publishes. */
  readonly readers?: number
}

/** What is observed of a component, by its health and what `serve` or `run` counts. A side that is not initialised has no status. */
export function figuresOf(name: string, { input, output }: Health, { inFlight, waiting, readers }: Counted) {
  const reads = input === undefined ? undefined : readers
  const { pull, eventSubscription: subscription, status, cause } = input ?? {}
  // Pull delivery has counts of its own.
  const push: Pick<InputHealth, 'answered' | 'strangers'> | undefined = pull ? undefined : input
  const states = { push, pull, subscription, input: status, cause, output: output?.status }
  return { name, inFlight, waiting, readers: reads, ...states }
}
