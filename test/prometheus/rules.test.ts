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
  .object({ groups: z.array(z.object({ rules: z.array(z.union([rule, z.object({ record: z.string() })])) })) })
  .parse(parse(readFileSync(rulesFile, 'utf8')))
  .groups.flatMap((group) => group.rules.flatMap((one) => ('alert' in one ? [one] : [])))

/**
 * Values of series by name and own labels, in promtool's notation, one for each 15 s: `300x20` is 300, 21 times; `_x20` no reading, 20 times;
 * `stale` is what a scrape that fails leaves.
 */
type Series = Readonly<Record<string, string>>

interface Row {
  readonly name: string
  readonly series: Series
  /** The same of more replicas of the component, by the name of the instance, or `namespace/instance`. */
  readonly replicas?: Readonly<Record<string, Series>>
  /** When the alerts are looked at, such as `6m`, and which fire then: the alert and its code, where it has one. No other does. */
  readonly fires: Readonly<Record<string, readonly string[]>>
}

/** Since yesterday; since the first reading; since the reading after five minutes. Time begins at 0 in these tests. */
const [old, young, restarted] = ['-86400x280', '0x280', '-86400x19 285x260']

const causes = ['closed', 'subscription', 'receive', 'deliveries', 'handler'] as const

/** A component of both doors that takes, handles and publishes events without a fault. */
const healthy: Series = {
  start_time_seconds: old,
  'deliveries_total{status="200"}': '1000+10x280',
  'deliveries_total{status="401"}': '0x280',
  'deliveries_total{status="503"}': '0x280',
  'events_total{result="acknowledged"}': '1000+10x280',
  'events_total{result="failed"}': '0x280',
  pull_failed_settlements_total: '0x280',
  'invokes_total{code="OK"}': '1000+10x280',
  'invokes_total{code="PUBLISH_REJECTED"}': '0x280',
  'strangers_total{status="401"}': '0+100x280',
  'health{side="input",status="degraded"}': '0x280',
  'health{side="input",status="unhealthy"}': '0x280',
  'health{side="output",status="degraded"}': '0x280',
  ...Object.fromEntries(causes.map((cause) => [`input_unhealthy{cause="${cause}"}`, '0x280'])),
  'event_subscription{state="pending"}': '0x280',
  'event_subscription{state="failed"}': '0x280',
  event_subscription_deleted_total: '0x280',
  reads: '1x280',
  uninitialised: '0x280',
  'inits_total{side="input",code="OK"}': '1x280',
  'inits_total{side="input",code="INVALID_ARGUMENT"}': '0x280',
  config_last_reload_successful: '1x280',
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

/** What counts beside a burst, after which nothing goes on. */
const still = {
  'deliveries_total{status="200"}': '1000x280',
  'events_total{result="acknowledged"}': '1000x280',
  'invokes_total{code="OK"}': '1000x280',
}

/** One of a rollout: it ends after five minutes, or begins then. */
const ending = (series: Series): Series => ofEach(series, (value) => `${value}x19 stale`)
const beginning = (series: Series): Series => ({
  ...ofEach(series, (value) => `_x19 ${value}x200`),
  start_time_seconds: '_x19 285x200',
})

const rows: readonly Row[] = [
  { name: 'nothing is wrong', series: {}, fires: { '1m': [], '29m': [], '65m': [] } },
  ...bursts.flatMap(({ alert, fault }): readonly Row[] => [
    {
      name: `${alert}: the first burst is over before the first reading`,
      series: { ...still, [fault]: '300x120', start_time_seconds: young },
      fires: { '1m': [alert], '4m': [], '25m': [] },
    },
    {
      name: `${alert}: a burst between two readings`,
      series: { ...still, [fault]: '0x20 300x100' },
      fires: { '5m': [], '6m30s': [alert], '8m15s': [], '29m': [] },
    },
    {
      name: `${alert}: a burst between the first two readings, of a process that has just started`,
      series: { ...still, [fault]: '0 300x119', start_time_seconds: young },
      fires: { '1m30s': [alert], '4m': [], '25m': [] },
    },
    {
      name: `${alert}: the first burst after a restart under the same address`,
      series: {
        ...Object.fromEntries(Object.keys(still).map((name) => [name, '1000x19 0x100'])),
        ...{ [fault]: '300x19 7x100', start_time_seconds: restarted },
      },
      fires: { '4m': [], '6m15s': [alert], '8m': [], '29m': [] },
    },
    {
      name: `${alert}: a restart without a fault after an old one`,
      series: { ...still, [fault]: '300x19 0x100', start_time_seconds: restarted },
      fires: { '6m': [], '11m': [], '29m': [] },
    },
    {
      name: `${alert}: an old fault, and a gap of the scraper of five minutes`,
      series: gapOf(20, { ...still, [fault]: '300' }),
      fires: { '11m': [], '16m': [], '29m': [] },
    },
    {
      name: `${alert}: an old fault, and a gap of the scraper of fifteen minutes`,
      series: gapOf(60, { ...still, [fault]: '300' }),
      fires: { '20m': [], '21m': [], '27m': [] },
    },
    {
      name: `${alert}: an old fault, and a Prometheus that knows nothing of it yet`,
      series: { ...still, [fault]: '300x120' },
      fires: { '1m': [], '6m': [], '29m': [] },
    },
  ]),
  ...bursts.slice(1, -1).map(
    ({ alert, fault }): Row => ({
      name: `${alert}: four faults, the first of which began a retry that succeeded`,
      series: { ...still, [fault]: '0x20 4x100' },
      fires: { '6m': [], '7m': [], '29m': [] },
    }),
  ),
  {
    name: 'one to four deliveries are refused in ten minutes, each of which is an event that is lost',
    series: { ...still, 'deliveries_total{status="401"}': '0x20 1x10 4x250' },
    fires: { '5m': [], '6m': ['EventGridFewDeliveriesRefused'], '9m': ['EventGridFewDeliveriesRefused'], '11m': [] },
  },
  {
    name: 'the fifth is refused within ten minutes of the first',
    series: { ...still, 'deliveries_total{status="401"}': '0x20 4x30 5x230' },
    fires: { '6m': ['EventGridFewDeliveriesRefused'], '9m': [], '13m30s': ['EventGridDeliveriesRefused'], '16m': [] },
  },
  {
    name: 'four of a process that has just started',
    series: { ...still, 'deliveries_total{status="401"}': '0 4x119', start_time_seconds: young },
    fires: { '1m': ['EventGridFewDeliveriesRefused'], '4m': [] },
  },
  {
    name: 'a tenth of the deliveries is not put off, nor does a twentieth of the events fail',
    series: { 'deliveries_total{status="503"}': '0+1x120', 'events_total{result="failed"}': '0+0.5x120' },
    fires: { '29m': [] },
  },
  {
    name: 'more than that for half an hour, and then no more',
    series: { 'deliveries_total{status="503"}': '0+3x120 360x160', 'events_total{result="failed"}': '0+3x120 360x160' },
    fires: {
      '3m': ['EventGridDeliveriesPutOff', 'EventGridHandlerFails'],
      '29m': ['EventGridDeliveriesPutOff', 'EventGridHandlerFails'],
      '33m': [],
    },
  },
  {
    name: 'health is degraded for ever, for a label that differs for instance',
    series: { 'health{side="input",status="degraded"}': '1x120' },
    fires: { '29m': [] },
  },
  ...(
    [
      { cause: 'subscription', alert: 'EventGridNoSubscription', after: '6m15s' },
      { cause: 'deliveries', alert: 'EventGridDeliveriesNotTaken', after: '6m15s' },
      { cause: 'handler', alert: 'EventGridNothingHandled', after: '6m15s' },
      { cause: 'receive', alert: 'EventGridNothingReceived', after: '5m45s' },
      { cause: 'closed', alert: 'EventGridInputClosed', after: '6m15s' },
    ] as const
  ).map(
    ({ cause, alert, after }): Row => ({
      name: `the input is unhealthy for ten minutes by ${cause}`,
      series: { [`input_unhealthy{cause="${cause}"}`]: '0x19 1x40 0x100' },
      fires: { '5m': [], [after]: [alert], '14m': [alert], '15m30s': [] },
    }),
  ),
  {
    name: 'the input is unhealthy at a single reading, for each cause',
    series: Object.fromEntries(causes.map((cause) => [`input_unhealthy{cause="${cause}"}`, '0x19 1 0x100'])),
    fires: { '5m': [], '5m15s': [], '6m': [], '7m': [] },
  },
  {
    name: 'no event comes to a replica by another address of the event subscription, and others have them',
    series: { 'input_unhealthy{cause="subscription"}': '1x250' },
    replicas: { 'pod-2': ofEach({}, (value) => `${value}x250`) },
    fires: { '5m': [], '30m': [] },
  },
  {
    name: 'the application is gone for 45 s: it was restarted',
    series: { 'input_unhealthy{cause="handler"}': '0x19 1x2 0x100' },
    fires: { '5m30s': [], '5m45s': [], '6m': [] },
  },
  {
    name: 'the process is gone, and nothing comes back for an hour',
    series: ending(still),
    fires: { '5m': [], '6m30s': ['EventGridComponentGone'], '60m': ['EventGridComponentGone'], '66m': [] },
  },
  {
    name: 'the process is gone, and comes back after ten minutes',
    series: {
      ...ofEach(still, (value) => `${value}x19 stale _x39 ${value}x200`),
      start_time_seconds: '-86400x19 stale _x39 900x200',
    },
    fires: { '6m30s': ['EventGridComponentGone'], '14m': ['EventGridComponentGone'], '16m': [] },
  },
  {
    name: 'a rolling restart',
    series: ending(still),
    replicas: { 'pod-2': beginning(still) },
    fires: { '5m': [], '6m': [], '7m': [], '20m': [], '60m': [] },
  },
  {
    name: 'a smaller fleet',
    series: ending(still),
    replicas: { 'pod-2': ofEach(still, (value) => `${value}x250`) },
    fires: { '6m': [], '7m': [], '20m': [], '60m': [] },
  },
  {
    name: 'the process is gone, and staging has another of the same job and name',
    series: ending(still),
    replicas: { 'staging/pod': ofEach(still, (value) => `${value}x250`) },
    fires: { '5m': [], '6m30s': ['EventGridComponentGone'] },
  },
  {
    name: 'a process starts again and again, each time within a minute',
    series: { ...ofEach(still, (value) => `${value}x200`), start_time_seconds: '0x19 300x3 360x3 420x150' },
    fires: { '6m45s': [], '7m15s': ['EventGridRestarts'], '19m': ['EventGridRestarts'], '23m': [] },
  },
  {
    name: 'the last request to the topic failed, and nothing is published since',
    series: { ...still, 'health{side="output",status="degraded"}': '0x19 1x100' },
    fires: { '14m': [], '16m': ['EventGridNotPublishing'], '29m': ['EventGridNotPublishing'] },
  },
  {
    name: 'a process starts again within a minute',
    series: {
      ...ofEach(still, (value) => `${value}x19 stale _ _ ${value}x200`),
      start_time_seconds: '-86400x19 stale _ _ 330x200',
    },
    fires: { '5m30s': [], '6m15s': [], '7m': [], '20m': [] },
  },
  { name: 'no process has ever been there', series: ofEach(healthy, () => '_x200'), fires: { '1m': [], '29m': [] } },
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
    name: 'daprd does not read, with pull delivery',
    series: { reads: '0x120', pull_received_total: '0x120' },
    fires: { '4m': [], '6m': ['EventGridNoReader'] },
  },
  {
    name: 'the Init of one component failed, and daprd goes on without it',
    series: {
      'inits_total{side="input",code="OK"}': '0x280',
      'inits_total{side="input",code="INVALID_ARGUMENT"}': '1x280',
    },
    fires: { '1m': [], '2m30s': ['EventGridInitFailed'], '29m': ['EventGridInitFailed'] },
  },
  {
    name: 'a failed Init is followed by one that succeeds, or follows one',
    series: { 'inits_total{side="input",code="INVALID_ARGUMENT"}': '1x280' },
    fires: { '2m30s': [], '29m': [] },
  },
  {
    name: 'daprd has initialised nothing',
    series: { uninitialised: '1x120' },
    fires: { '1m': [], '2m30s': ['EventGridNotInitialised'] },
  },
  {
    name: 'the component files have a fault, which is corrected',
    series: { config_last_reload_successful: '0x20 1x100' },
    fires: { '30s': [], '1m15s': ['EventGridReloadFailed'], '5m': ['EventGridReloadFailed'], '6m': [] },
  },
  {
    name: 'a component says ignoreErrors and failed',
    series: { component_left_out: '1x120' },
    fires: { '30s': [], '1m15s': ['EventGridComponentLeftOut'] },
  },
]

/** Each series of a healthy component, with other values made of the first. */
function ofEach(changed: Series, values: (first: string) => string): Series {
  return Object.fromEntries(
    Object.entries({ ...healthy, ...changed }).map(([name, given]) => [name, values(/^-?\d+/.exec(given)?.[0] ?? '0')]),
  )
}

/** Readings for five minutes, none for a while, then readings again. */
function gapOf(readings: number, changed: Series): Series {
  return ofEach(changed, (value) => `${value}x19 _x${readings} ${value}x${100 - readings}`)
}

/** The series of one instance, with the labels that Prometheus and the component add. */
function inputSeries(replica: string, series: Series) {
  const [instance, namespace] = replica.split('/').reverse()
  const place = `job="binding",instance="${instance}"${namespace === undefined ? '' : `,namespace="${namespace}"`}`
  return Object.entries({ ...healthy, ...series }).map(([given, values]) => {
    const [, name, labels] = /^(\w+)(?:\{(.*)\})?$/.exec(given) ?? []
    const own = /^(uninitialised|config_)/.test(name ?? '') ? '' : ',component="orders"'
    return {
      series: `eventgrid_binding_${name}{${place}${own}${labels ? `,${labels}` : ''}}`,
      values,
    }
  })
}

/** Alerts of a process, not of a component. */
const ofProcess: readonly string[] = ['EventGridNotInitialised', 'EventGridReloadFailed']

/** Alerts that name the process. */
const byInstance: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EventGridDeliveriesNotTaken: { cause: 'deliveries' },
  EventGridNothingHandled: { cause: 'handler' },
  EventGridNothingReceived: { cause: 'receive' },
  EventGridInputClosed: { cause: 'closed' },
  EventGridSubscriptionNotProvisioned: {},
  EventGridComponentLeftOut: {},
  EventGridNoReader: {},
  EventGridRestarts: {},
  EventGridInitFailed: { side: 'input' },
  EventGridNotPublishing: { side: 'output', status: 'degraded' },
  EventGridNotInitialised: {},
  EventGridReloadFailed: {},
}

/** What promtool expects of one alert: labels and annotations in full. */
function expected(alert: z.infer<typeof rule>, fires: readonly string[]) {
  return fires.flatMap((fired) => {
    const [name = '', code] = fired.split(' ')
    if (name !== alert.alert) return []
    const labels: Record<string, string> = {
      job: 'binding',
      ...(!ofProcess.includes(name) && { component: 'orders' }),
      ...(byInstance[name] && { instance: 'pod', ...byInstance[name] }),
      ...(code !== undefined && { code }),
    }
    const summary = alert.annotations.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => labels[label] ?? '')
    return { exp_labels: { ...labels, ...alert.labels }, exp_annotations: { summary } }
  })
}

test.skipIf(promtool === undefined)(
  'the alerts fire for outages and bursts, resolve, and never fire for a gap, an old fault or a rolling restart',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'rules.yaml')
    const tests = rows.map(({ name, series, replicas = {}, fires }) => ({
      name,
      interval: '15s',
      input_series: Object.entries({ pod: series, ...replicas }).flatMap(([instance, own]) =>
        inputSeries(instance, own),
      ),
      alert_rule_test: Object.entries(fires).flatMap(([at, fired]) =>
        rules.map((one) => ({ eval_time: at, alertname: one.alert, exp_alerts: expected(one, fired) })),
      ),
    }))
    writeFileSync(file, stringify({ rule_files: [rulesFile], evaluation_interval: '15s', tests }))
    // It prints each difference, and ends with 1.
    expect(execFileSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
  },
)

test('only lost events, and a side that does not work, page somebody', () => {
  const critical = rules.filter(({ labels }) => labels.severity === 'critical').map(({ alert }) => alert)
  expect(critical).toEqual([
    'EventGridComponentGone',
    'EventGridRestarts',
    'EventGridNoSubscription',
    'EventGridDeliveriesNotTaken',
    'EventGridNothingHandled',
    'EventGridNothingReceived',
    'EventGridInputClosed',
    'EventGridNotInitialised',
    'EventGridInitFailed',
    'EventGridDeliveriesRefused',
    'EventGridSubscriptionDeleted',
  ])
})
