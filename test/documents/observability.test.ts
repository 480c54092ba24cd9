import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createPullCounts } from '../../src/receiver/pull-counts.ts'
import { createMetrics } from '../../src/sidecar/shared/metrics.ts'

const docs = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')

const page = docs('observability.md')
const rule = z.object({ alert: z.string().optional(), record: z.string().optional(), expr: z.string() })
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(rule) })) })
  .parse(parse(docs('observability/alerts.yaml')))
  .groups.flatMap((group) => group.rules)
const panels = z
  .object({ panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })) })
  .parse(JSON.parse(docs('observability/dashboard.json'))).panels

/** What a query groups by. */
const groupedBy = (expr: string) => [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))

/** Names and labels of the metrics that a component has, and of what the rules record. */
async function metricsOfComponent() {
  const metrics = createMetrics()
  const counters = metrics.component('orders')
  counters.event('acknowledged', 1)
  counters.invoke('OK', 1)
  counters.init('input', 'OK')
  const push = { answered: { 200: 1 }, strangers: { 401: 1 } }
  const figures = {
    inFlight: 0,
    waiting: 0,
    readers: 1,
    push,
    subscription: { state: 'pending', timesDeleted: 0 },
  } as const
  const states = { input: 'unhealthy', cause: 'handler', output: 'healthy' } as const
  metrics.watch(() => [{ name: 'orders', ...figures, pull: createPullCounts(), ...states }])
  metrics.watchInit(() => true)
  const config = { successful: true, lastSuccess: new Date(), faults: [], leftOut: { orders: 'why' } }
  metrics.watchConfig(() => config)
  const labels = new Map<string, Set<string>>()
  for (const [, name = '', given = ''] of (await metrics.text()).matchAll(
    /^(eventgrid_binding_\w+)(?:\{([^}]*)\})? /gm,
  )) {
    labels.set(name, new Set([...given.matchAll(/(\w+)=/g)].map(([, label = '']) => label)))
  }
  for (const { record, expr } of rules) if (record !== undefined) labels.set(record, new Set(groupedBy(expr)))
  return labels
}

it.each([
  ...rules.map(({ alert, record, expr }) => ({ name: alert ?? record, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr }))),
])('the query of $name names metrics and labels that exist', async ({ expr }) => {
  const known = await metricsOfComponent()
  const used = [...expr.matchAll(/((?:\w+:)?eventgrid_binding_\w+(?::\w+)?)(?:\{([^}]*)\})?/g)]
  expect(used.length).toBeGreaterThan(0)
  for (const [, name = '', selected = ''] of used) {
    const selectors = [...selected.matchAll(/(\w+)(?:=|!=|=~)/g)].map(([, label = '']) => label)
    const strange = selectors.filter((label) => !known.get(name)?.has(label))
    expect({ name, strange }).toEqual({ name, strange: [] })
  }
  // Prometheus adds these itself.
  const labels = new Set([
    'namespace',
    'job',
    'instance',
    ...used.flatMap(([, name = '']) => [...(known.get(name) ?? [])]),
  ])
  expect(groupedBy(expr).filter((label) => !labels.has(label))).toEqual([])
})

it('says for each alert what to do', () => {
  const sections = [...page.matchAll(/^### (\w+)\n(.+)/gm)].map(([, name]) => name)
  expect(sections).toEqual(rules.flatMap(({ alert }) => alert ?? []))
})
