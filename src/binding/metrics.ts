import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { HealthStatus } from './health.ts'

/** What became of an event: acknowledged, acknowledged with an error, or given up without an answer. */
export type EventResult = 'acknowledged' | 'failed' | 'abandoned'

/** How a component does at the moment when somebody asks. */
export interface ComponentFigures {
  readonly name: string
  readonly inFlight: number
  /** Absent where events never wait for room in a stream. */
  readonly waiting?: number
  /** Open `Read` streams; absent where there are none by design. */
  readonly readers?: number
  /** Deliveries since its listener came up, by the status of the answer. */
  readonly answered: Readonly<Record<string, number>>
  /** Absent: that side is not set up. */
  readonly input: HealthStatus | undefined
  readonly output: HealthStatus | undefined
}

/** What is counted for one component. */
export interface ComponentCounters {
  event(result: EventResult, durationMs: number): void
  /** @param code `OK`, or the name of a gRPC status (`serve`) or the code of a BindingError (`run`) */
  invoke(code: string, durationMs: number): void
  init(side: 'input' | 'output', code: string): void
}

/** Figures of this process in Prometheus' form. */
export interface Metrics {
  component(name: string): ComponentCounters
  /** Removes the counts of a component. */
  forget(name: string): void
  /** Asked each time that the figures are read. */
  watch(components: () => Iterable<ComponentFigures>): void
  readonly contentType: string
  text(): Promise<string>
}

/** From a handler that answers at once to one that takes the whole of `handlerTimeout`. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 100]

const results = ['acknowledged', 'failed', 'abandoned'] as const satisfies readonly EventResult[]

const statuses = ['healthy', 'degraded', 'unhealthy'] as const satisfies readonly HealthStatus[]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  let components: () => Iterable<ComponentFigures> = () => []
  let observed = false
  /** The codes that a component has been counted with. */
  const codesOf = new Map<string, Set<string>>()

  new Counter({
    name: 'eventgrid_binding_deliveries_total',
    help: 'Deliveries, that is what was posted and was no handshake, by the status of the answer',
    labelNames: ['component', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { name: component, answered } of components()) {
        for (const [status, count] of Object.entries(answered)) this.inc({ component, status }, count)
      }
    },
  })
  const events = new Counter({
    name: 'eventgrid_binding_events_total',
    help: 'Events that reached the application, by what became of them',
    labelNames: ['component', 'result'],
    registers,
  })
  const eventSeconds = new Histogram({
    name: 'eventgrid_binding_event_seconds',
    help: 'Time from the delivery of an event to its acknowledgement',
    labelNames: ['component'],
    buckets,
    registers,
  })
  const invokes = new Counter({
    name: 'eventgrid_binding_invokes_total',
    help: 'Calls of the output, by gRPC status or, for run, by error code',
    labelNames: ['component', 'code'],
    registers,
  })
  const invokeSeconds = new Histogram({
    name: 'eventgrid_binding_invoke_seconds',
    help: 'Time that calls of the output took',
    labelNames: ['component'],
    buckets,
    registers,
  })
  const inits = new Counter({
    name: 'eventgrid_binding_inits_total',
    help: 'Calls of Init, by gRPC status',
    labelNames: ['component', 'side', 'code'],
    registers,
  })
  const gauge = (name: string, help: string, figure: (component: ComponentFigures) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['component'],
      registers,
      collect() {
        this.reset()
        for (const component of components()) {
          const value = figure(component)
          if (value !== undefined) this.set({ component: component.name }, value)
        }
      },
    })
  gauge('eventgrid_binding_events_in_flight', 'Events sent and not acknowledged', ({ inFlight }) => inFlight)
  gauge('eventgrid_binding_events_waiting', 'Events that wait for room in the stream', ({ waiting }) => waiting)
  gauge('eventgrid_binding_reads', 'Open Read streams', ({ readers }) => readers)
  new Gauge({
    name: 'eventgrid_binding_health',
    help: '1 for the status that a side has, 0 for the others',
    labelNames: ['component', 'side', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { name: component, input, output } of components()) {
        for (const [side, is] of Object.entries({ input, output })) {
          if (is === undefined) continue
          for (const status of statuses) this.set({ component, side, status }, status === is ? 1 : 0)
        }
      }
    },
  })

  return {
    component(component) {
      const codes = codesOf.get(component) ?? new Set()
      codesOf.set(component, codes)
      const seconds = eventSeconds.labels({ component })
      const invokedSeconds = invokeSeconds.labels({ component })
      const byResult: Readonly<Record<EventResult, Counter.Internal>> = {
        acknowledged: events.labels({ component, result: 'acknowledged' }),
        failed: events.labels({ component, result: 'failed' }),
        abandoned: events.labels({ component, result: 'abandoned' }),
      }
      return {
        event(result, durationMs) {
          byResult[result].inc()
          seconds.observe(durationMs / 1000)
        },
        invoke(code, durationMs) {
          codes.add(code)
          invokes.labels({ component, code }).inc()
          invokedSeconds.observe(durationMs / 1000)
        },
        init(side, code) {
          codes.add(code)
          inits.labels({ component, side, code }).inc()
        },
      }
    },
    forget(component) {
      for (const result of results) events.remove({ component, result })
      for (const code of codesOf.get(component) ?? []) {
        invokes.remove({ component, code })
        for (const side of ['input', 'output']) inits.remove({ component, side, code })
      }
      codesOf.delete(component)
      eventSeconds.remove({ component })
      invokeSeconds.remove({ component })
    },
    watch(asked) {
      components = asked
    },
    contentType: registry.contentType,
    text() {
      // Those of the process keep a timer busy, so they wait until somebody wants them.
      if (!observed) collectDefaultMetrics({ register: registry })
      observed = true
      return registry.metrics()
    },
  }
}
