import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createPullCounts } from '../../src/receiver/held-events.ts'
import { createMetrics } from '../../src/sidecar/shared/metrics.ts'

const docs = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')

const page = docs('observability.md')
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })) })
  .parse(parse(docs('observability/alerts.yaml')))
  .groups.flatMap((group) => group.rules)
const panels = z
  .object({ panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })) })
  .parse(JSON.parse(docs('observability/dashboard.json'))).panels

/** Names and labels of the metrics that a component has. */
async function metricsOfComponent() {
  const metrics = createMetrics()
  const counters = metrics.component('orders')
  counters.event('acknowledged', 1)
  counters.invoke('OK', 1)
  counters.init('input', 'OK')
  const push = { answered: { 200: 1 }, strangers: { 401: 1 }, unaccepted: { audience: 1 } }
  const figures = {
    inFlight: 0,
    waiting: 0,
    readers: 1,
    push,
    subscription: { state: 'pending', timesDeleted: 0 },
  } as const
  metrics.watch(() => [{ name: 'orders', ...figures, pull: createPullCounts(), input: 'healthy', output: 'healthy' }])
  metrics.watchInit(() => true)
  const config = { successful: true, lastSuccess: new Date(), faults: [], leftOut: { orders: 'why' } }
  metrics.watchConfig(() => config)
  const labels = new Map<string, Set<string>>()
  for (const [, name = '', given = ''] of (await metrics.text()).matchAll(
    /^(eventgrid_binding_\w+)(?:\{([^}]*)\})? /gm,
  )) {
    labels.set(name, new Set([...given.matchAll(/(\w+)=/g)].map(([, label = '']) => label)))
  }
  return labels
}

it.each([
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr }))),
])('the query of $name names metrics and labels that exist', async ({ expr }) => {
  const known = await metricsOfComponent()
  const used = [...expr.matchAll(/(eventgrid_binding_\w+)(?:\{([^}]*)\})?/g)]
  expect(used.length).toBeGreaterThan(0)
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
  for (const [, name = '', selected = ''] of used) {
    const selectors = [...selected.matchAll(/(\w+)(?:=|!=|=~)/g)].map(([, label = '']) => label)
    // Prometheus adds the instance itself.
    const strange = selectors.filter((label) => !known.get(name)?.has(label))
    expect({ name, strange }).toEqual({ name, strange: [] })
  }
  // Prometheus adds the instance itself.
  const labels = new Set(['instance', ...used.flatMap(([, name = '']) => [...(known.get(name) ?? [])])])
  expect(grouped.filter((label) => !labels.has(label))).toEqual([])
})

it('says for each alert what to do', () => {
  const sections = [...page.matchAll(/^### (\w+)\n(.+)/gm)].map(([, name]) => name)
  expect(sections).toEqual(rules.map(({ alert }) => alert))
})
