import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { startProcess } from '../support/command.ts'

/** A Prometheus server that reads the metrics of some addresses. */
export interface Prometheus {
  /** The values that a query has now; without those that are no number. */
  query(expression: string): Promise<readonly number[]>
  /** The values of a label among the series of a metric. */
  labelValues(label: string, metric: string): Promise<readonly string[]>
  /** Names of the rules that it has evaluated without an error. */
  healthyRules(): Promise<readonly string[]>
  /** Alerts that fire, as name and component, where they have one. */
  firing(): Promise<readonly string[]>
}

const answerOf = <Data extends z.ZodType>(data: Data) => z.object({ status: z.literal('success'), data })
const vector = answerOf(z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }))
const texts = answerOf(z.array(z.string()))
const rules = answerOf(
  z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string() })) })),
  }),
)
const alerts = answerOf(
  z.object({
    alerts: z.array(
      z.object({ state: z.string(), labels: z.object({ alertname: z.string(), component: z.string().optional() }) }),
    ),
  }),
)

export interface PrometheusOptions {
  readonly targets: readonly string[]
  readonly ruleText: string
  /** How often metrics are read and, unless a rule says otherwise, rules are evaluated. @default 500 */
  readonly intervalMs?: number
}

/** Starts one; the test's end stops it and removes its data. */
export async function startPrometheus(
  program: string,
  { targets, ruleText, intervalMs = 500 }: PrometheusOptions,
): Promise<Prometheus> {
  const interval = `${intervalMs}ms`
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
  writeFileSync(join(folder, 'alerts.yaml'), ruleText)
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      rule_files: ['alerts.yaml'],
      scrape_configs: [{ job_name: 'eventgrid-binding', static_configs: [{ targets }] }],
    }),
  )
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const server = startProcess(program, [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--web.listen-address=127.0.0.1:0',
  ])
  const [, address] = await server.line(/msg="Listening on".* address=(127\.0\.0\.1:\d+)/)
  await server.line(/Server is ready to receive web requests/)

  const ask = async <Answer extends z.ZodType>(shape: Answer, path: string, query = {}): Promise<z.infer<Answer>> => {
    const answer = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(query)}`)
    return shape.parse(await answer.json())
  }
  return {
    async query(expression) {
      const { data } = await ask(vector, 'query', { query: expression })
      return data.result.map(({ value }) => Number(value[1])).filter(Number.isFinite)
    },
    labelValues: async (label, metric) => (await ask(texts, `label/${label}/values`, { 'match[]': metric })).data,
    async healthyRules() {
      const { data } = await ask(rules, 'rules')
      return data.groups.flatMap((group) => group.rules.filter(({ health }) => health === 'ok').map(({ name }) => name))
    },
    async firing() {
      const { data } = await ask(alerts, 'alerts')
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels: { alertname, component } }) =>
          component === undefined ? alertname : `${alertname} ${component}`,
        )
    },
  }
}
