/** When each alert of docs/observability fires, and when none does: bursts, gaps of the scraper and restarts, by promtool's tests of rules. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { obtainPromtool } from './prometheus-program.ts'

const promtool = await obtainPromtool()

const rulesFile = join(import.meta.dirname, '../../docs/observability/alerts.yaml')
const rule = z.object({
  alert: z.string(),
  labels: z.object({ severity: z.string() }),
  annotations: z.object({ summary: z.string() }),
})
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(rule) })) })
  .parse(parse(readFileSync(rulesFile, 'utf8')))
  .groups.flatMap((group) => group.rules)

/** Values of series by name and own labels, in promtool's notation, one for each 15 s: `300x20` is 300, 21 times; `_x20` no reading, 20 times. */
type Series = Readonly<Record<string, string>>

interface Row {
  readonly name: string
  readonly series: Series
  /** When the alerts are looked at, such as `6m`, and which fire then: the alert and its code, where it has one. No other does. */
  readonly fires: Readonly<Record<string, readonly string[]>>
}

/** Since yesterday; since the first reading; since the reading after five minutes. Time begins at 0 in these tests. */
const [old, young, restarted] = ['-86400x120', '0x120', '-86400x19 285x100']

/** A component of both doors that takes, handles and publishes events without a fault. */
const healthy: Series = {
  start_time_seconds: old,
  'deliveries_total{status="200"}': '1000+10x120',
  'deliveries_total{status="401"}': '0x120',
  'deliveries_total{status="503"}': '0x120',
  'events_total{result="acknowledged"}': '1000+10x120',
  'events_total{result="failed"}': '0x120',
  pull_failed_settlements_total: '0x120',
  'invokes_total{code="OK"}': '1000+10x120',
  'invokes_total{code="PUBLISH_REJECTED"}': '0x120',
  'strangers_total{status="401"}': '0+100x120',
  'health{side="input",status="degraded"}': '0x120',
  'health{side="input",status="unhealthy"}': '0x120',
  'event_subscription{state="pending"}': '0x120',
  'event_subscription{state="failed"}': '0x120',
  event_subscription_deleted_total: '0x120',
  reads: '1x120',
  uninitialised: '0x120',
  config_last_reload_successful: '1x120',
}

/** Counts of which a single burst is a fault, the alert for it, and what counts beside: here nothing goes on after the burst. */
const bursts = [
  { alert: 'EventGridDeliveriesRefused', fault: 'deliveries_total{status="401"}' },
  { alert: 'EventGridDeliveriesPutOff', fault: 'deliveries_total{status="503"}' },
  { alert: 'EventGridHandlerFails', fault: 'events_total{result="failed"}' },
  { alert: 'EventGridSettlementsFail', fault: 'pull_failed_settlements_total' },
  { alert: 'EventGridPublishFails PUBLISH_REJECTED', fault: 'invokes_total{code="PUBLISH_REJECTED"}' },
  { alert: 'EventGridSubscriptionDeleted', fault: 'event_subscription_deleted_total' },
] as const

const rows: readonly Row[] = [
  { name: 'nothing is wrong', series: {}, fires: { '1m': [], '29m': [] } },
  ...bursts.flatMap(({ alert, fault }): readonly Row[] => {
    const world = {
      'deliveries_total{status="200"}': '1000x120',
      'events_total{result="acknowledged"}': '1000x120',
      'invokes_total{code="OK"}': '1000x120',
    }
    return [
      {
        name: `${alert}: the first burst is over before the first reading`,
        series: { ...world, [fault]: '300x120', start_time_seconds: young },
        fires: { '6m': [alert], '25m': [] },
      },
      {
        name: `${alert}: a burst between two readings`,
        series: { ...world, [fault]: '0x20 300x100' },
        fires: { '5m': [], '11m': [alert], '29m': [] },
      },
      {
        name: `${alert}: a burst between the first two readings, of a process that has just started`,
        series: { ...world, [fault]: '0 300x119', start_time_seconds: young },
        fires: { '6m': [alert], '25m': [] },
      },
      {
        name: `${alert}: the first burst after a restart under the same address`,
        series: { ...world, [fault]: '300x19 7x100', start_time_seconds: restarted },
        fires: { '4m': [], '11m': [alert], '29m': [] },
      },
      {
        name: `${alert}: a restart without a fault after an old one`,
        series: { ...world, [fault]: '300x19 0x100', start_time_seconds: restarted },
        fires: { '6m': [], '11m': [], '29m': [] },
      },
      {
        name: `${alert}: an old fault, and a gap of the scraper of five minutes`,
        series: gapOf(20, { ...world, [fault]: '300' }),
        fires: { '11m': [], '16m': [], '29m': [] },
      },
      {
        name: `${alert}: an old fault, and a gap of the scraper of fifteen minutes`,
        series: gapOf(60, { ...world, [fault]: '300' }),
        fires: { '20m': [], '21m': [], '27m': [] },
      },
      {
        name: `${alert}: an old fault, and a Prometheus that knows nothing of it yet`,
        series: { ...world, [fault]: '300x120' },
        fires: { '1m': [], '6m': [], '29m': [] },
      },
    ]
  }),
  {
    name: 'a tenth of the deliveries is not put off, nor does a twentieth of the events fail',
    series: { 'deliveries_total{status="503"}': '0+1x120', 'events_total{result="failed"}': '0+0.5x120' },
    fires: { '29m': [] },
  },
  {
    name: 'health is degraded for ever, for a label that differs for instance',
    series: { 'health{side="input",status="degraded"}': '1x120' },
    fires: { '29m': [] },
  },
  {
    name: 'the input does not work',
    series: { 'health{side="input",status="unhealthy"}': '1x120' },
    fires: { '4m': [], '6m': ['EventGridInputNotHealthy'] },
  },
  {
    name: 'every receive of pull delivery fails, which had succeeded before',
    series: {
      'pull_receives_total{status="200"}': '0+1x20 20x100',
      'pull_receives_total{status="403"}': '0x20 0+1x100',
    },
    fires: { '14m': [], '21m': ['EventGridNothingReceived'], '29m': ['EventGridNothingReceived'] },
  },
  {
    name: 'a receive of pull delivery fails now and then',
    series: { 'pull_receives_total{status="200"}': '0+1x120', 'pull_receives_total{status="503"}': '0+1x120' },
    fires: { '29m': [] },
  },
  {
    name: 'the event subscription cannot be provisioned',
    series: { 'event_subscription{state="failed"}': '1x120' },
    fires: { '9m': [], '11m': ['EventGridSubscriptionNotProvisioned'] },
  },
  {
    name: 'an application only publishes, through a component with both sides',
    series: {
      reads: '0x120',
      'health{side="input",status="degraded"}': '1x120',
      'deliveries_total{status="200"}': '0x120',
    },
    fires: { '29m': [] },
  },
  {
    name: 'daprd does not read, and deliveries come',
    series: { reads: '0x120', 'deliveries_total{status="503"}': '1x120' },
    fires: { '4m': [], '6m': ['EventGridNoReader'] },
  },
  {
    name: 'daprd has initialised nothing',
    series: { uninitialised: '1x120' },
    fires: { '4m': [], '6m': ['EventGridNotInitialised'] },
  },
  {
    name: 'the component files have a fault',
    series: { config_last_reload_successful: '0x120' },
    fires: { '4m': [], '6m': ['EventGridReloadFailed'] },
  },
  {
    name: 'a component says ignoreErrors and failed',
    series: { component_left_out: '1x120' },
    fires: { '4m': [], '6m': ['EventGridComponentLeftOut'] },
  },
]

/** Readings for five minutes, none for a while, then readings again. */
function gapOf(readings: number, changed: Series): Series {
  return Object.fromEntries(
    Object.entries({ ...healthy, ...changed }).map(([name, values]) => {
      const value = /^-?\d+/.exec(values)?.[0]
      return [name, `${value}x19 _x${readings} ${value}x${100 - readings}`]
    }),
  )
}

/** The series of a row, with the labels that Prometheus and the component add. */
function inputSeries(series: Series) {
  return Object.entries({ ...healthy, ...series }).map(([given, values]) => {
    const [, name, labels] = /^(\w+)(?:\{(.*)\})?$/.exec(given) ?? []
    const own = /^(uninitialised|config_)/.test(name ?? '') ? '' : ',component="orders"'
    return {
      series: `eventgrid_binding_${name}{job="binding",instance="pod"${own}${labels ? `,${labels}` : ''}}`,
      values,
    }
  })
}

/** Alerts of a process, not of a component. */
const ofProcess: readonly string[] = ['EventGridNotInitialised', 'EventGridReloadFailed']

/** What promtool expects of one alert: labels and annotations in full. */
function expected(alert: z.infer<typeof rule>, fires: readonly string[]) {
  return fires.flatMap((fired) => {
    const [name, code] = fired.split(' ')
    if (name !== alert.alert) return []
    const byInstance = [
      'EventGridInputNotHealthy',
      'EventGridSubscriptionNotProvisioned',
      'EventGridComponentLeftOut',
    ].includes(name)
    const labels: Record<string, string> = {
      ...(!ofProcess.includes(name) && { component: 'orders' }),
      ...(byInstance && { instance: 'pod' }),
      ...(['EventGridNoReader', ...ofProcess].includes(name) && { instance: 'pod', job: 'binding' }),
      ...(code !== undefined && { code }),
    }
    const summary = alert.annotations.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => labels[label] ?? '')
    return { exp_labels: { ...labels, ...alert.labels }, exp_annotations: { summary } }
  })
}

test.skipIf(promtool === undefined)('the alerts fire for bursts, and for no gap, old fault or restart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'rules.yaml')
  const tests = rows.map(({ name, series, fires }) => ({
    name,
    interval: '15s',
    input_series: inputSeries(series),
    alert_rule_test: Object.entries(fires).flatMap(([at, fired]) =>
      rules.map((one) => ({ eval_time: at, alertname: one.alert, exp_alerts: expected(one, fired) })),
    ),
  }))
  writeFileSync(file, stringify({ rule_files: [rulesFile], evaluation_interval: '15s', tests }))
  // It prints each difference, and ends with 1.
  expect(execFileSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
})

test('only lost events and a side that does not work page somebody', () => {
  const critical = rules.filter(({ labels }) => labels.severity === 'critical').map(({ alert }) => alert)
  expect(critical).toEqual([
    'EventGridDeliveriesRefused',
    'EventGridNotInitialised',
    'EventGridInputNotHealthy',
    'EventGridNothingReceived',
    'EventGridSubscriptionDeleted',
  ])
})
