import { type BindingComponent, type ComponentHealth, isBindingError, type UnhealthyCause } from 'eventgrid-binding'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const statuses = ['healthy', 'degraded', 'unhealthy']
const states = ['pending', 'provisioned', 'failed', 'missing', 'unmanaged']
const causes = ['closed', 'subscription', 'receive', 'handler', 'deliveries'] satisfies UnhealthyCause[]
/** Counted from 0, so that a first failure is an increase. */
const answers = Object.fromEntries(['200', '400', '401', '403', '404', '413', '415', '500', '503'].map((is) => [is, 0]))

type Counts = Readonly<Record<string, number>> | undefined

/** What is counted here of a component since its binding was made. */
interface Began {
  /** In seconds since 1970. */
  readonly at: number
  readonly events: Record<string, number>
  readonly invokes: Record<string, number>
}

function increase(counts: Record<string, number> = {}, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

/** Prometheus metrics of a host, by the names of `run` and `serve`, so that the same alert rules watch it. */
export function createMetrics(bindings: ReadonlyMap<string, BindingComponent>) {
  const registry = new Registry()
  const began = new Map<string, Began>()
  const options = (name: string, help: string, ...labels: string[]) => ({
    ...{ name: `eventgrid_binding_${name}`, help, labelNames: ['component', ...labels], registers: [registry] },
  })
  /** Values of a label, read from the health of each component when Prometheus asks. A component without them has none. */
  function watch(
    Kind: typeof Counter | typeof Gauge,
    name: string,
    label: string,
    read: (of: ComponentHealth, since: Began | undefined) => Counts,
  ) {
    new Kind({
      ...options(name, `By ${label}`, label),
      collect() {
        this.reset()
        for (const [component, binding] of bindings)
          for (const [value, count] of Object.entries(read(binding.health(), began.get(component)) ?? {}))
            this.inc({ component, [label]: value }, count)
      },
    })
  }
  function count(name: string, read: (of: ComponentHealth) => number | undefined) {
    new Counter({
      ...options(name, 'As health() counts'),
      collect() {
        this.reset()
        for (const [component, binding] of bindings) {
          const value = read(binding.health())
          if (value !== undefined) this.inc({ component }, value)
        }
      },
    })
  }
  /** 1 for what is the case, 0 for the others. */
  const oneOf = (all: readonly string[], is: string | undefined) =>
    Object.fromEntries(all.map((value) => [value, Number(value === is)]))

  watch(Counter, 'deliveries_total', 'status', ({ input }) => input?.answered && { ...answers, ...input.answered })
  watch(Gauge, 'input_unhealthy', 'cause', ({ input }) => input && oneOf(causes, input.cause))
  watch(
    Gauge,
    'event_subscription',
    'state',
    ({ input }) => input?.eventSubscription && oneOf(states, input.eventSubscription.state),
  )
  count('event_subscription_deleted_total', ({ input }) => input?.eventSubscription?.timesDeleted)
  watch(Counter, 'pull_settled_total', 'kind', ({ input }) => input?.pull && { ...input.pull.settled })
  count('pull_failed_settlements_total', ({ input }) => input?.pull?.failedSettlements)
  new Gauge({
    ...options('health', '1 for the status of a side, 0 for the others', 'side', 'status'),
    collect() {
      this.reset()
      for (const [component, binding] of bindings)
        for (const [side, health] of Object.entries({ input: binding.health().input, output: binding.health().output }))
          if (health)
            for (const status of statuses) this.set({ component, side, status }, Number(status === health.status))
    },
  })
  new Gauge({
    ...options('start_time_seconds', 'When the binding of the component was made, in seconds since 1970'),
    collect() {
      this.reset()
      for (const component of bindings.keys()) this.set({ component }, began.get(component)?.at ?? 0)
    },
  })
  watch(Counter, 'events_total', 'result', (_health, since) => since?.events)
  watch(Counter, 'invokes_total', 'code', (_health, since) => since?.invokes)
  const eventSeconds = new Histogram(options('event_seconds', 'Time of the handler'))
  const invokeSeconds = new Histogram(options('invoke_seconds', 'Time of an operation'))
  return {
    text: () => registry.metrics(),
    /** The binding of a component is made. Counted from 0, as above. */
    began: (component: string) =>
      void began.set(component, { at: Date.now() / 1000, events: { acknowledged: 0, failed: 0 }, invokes: { OK: 0 } }),
    /** Runs a handler. */
    async event(component: string, work: () => Promise<void>): Promise<void> {
      const end = eventSeconds.startTimer({ component })
      let result = 'failed'
      try {
        await work()
        result = 'acknowledged'
      } finally {
        end()
        increase(began.get(component)?.events, result)
      }
    },
    /** Runs an operation. */
    async invoke<T>(component: string, work: () => Promise<T>): Promise<T> {
      const end = invokeSeconds.startTimer({ component })
      let code = 'OK'
      try {
        return await work()
      } catch (error) {
        code = isBindingError(error) ? error.code : 'UNEXPECTED'
        throw error
      } finally {
        end()
        increase(began.get(component)?.invokes, code)
      }
    },
  }
}
