import type { BindingComponent, ComponentHealth } from 'eventgrid-binding'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Prometheus metrics of a host: what each binding tells by `health()`, and what the host itself measures. */
export function createMetrics(bindings: ReadonlyMap<string, BindingComponent>) {
  const registry = new Registry()
  type Counts = Readonly<Record<string, number>> | undefined
  const counter = (name: string, help: string, label: string, countsOf: (health: ComponentHealth) => Counts) =>
    new Counter({
      ...{ name, help, labelNames: ['component', label], registers: [registry] },
      collect() {
        this.reset()
        for (const [component, binding] of bindings)
          for (const [value, count] of Object.entries(countsOf(binding.health()) ?? {}))
            this.inc({ component, [label]: value }, count)
      },
    })
  counter('deliveries_total', 'Deliveries by the status of the answer', 'status', ({ input }) => input?.answered)
  counter(
    'pull_settled_total',
    'Events of pull delivery by how they were settled',
    'kind',
    ({ input }) => input?.pull?.settled,
  )
  new Gauge({
    ...{ name: 'healthy', help: '1: nobody has to look at it', labelNames: ['component'], registers: [registry] },
    collect() {
      for (const [component, binding] of bindings)
        this.set({ component }, Number(binding.health().status === 'healthy'))
    },
  })
  const seconds = new Histogram({
    ...{ name: 'seconds', help: 'Time that a handler or an operation took, by how it ended', registers: [registry] },
    labelNames: ['component', 'what', 'result'],
  })
  return {
    text: () => registry.metrics(),
    /** Runs a handler or an operation. */
    async time<T>(component: string, what: string, work: () => Promise<T>): Promise<T> {
      const end = seconds.startTimer({ component, what, result: 'failed' })
      try {
        const result = await work()
        end({ result: 'ok' })
        return result
      } catch (error) {
        end()
        throw error
      }
    },
  }
}
