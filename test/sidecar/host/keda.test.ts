/** The manifests for KEDA: they keep to its schema (KEDA: scaledobject_types.go, azure_monitor_scaler.go, prometheus_scaler.go). */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseComponents } from '../../../src/index.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { createMetrics } from '../../../src/sidecar/shared/metrics.ts'

const folder = resolve(import.meta.dirname, '../../../examples/kubernetes')
const read = (file: string) => parse(readFileSync(resolve(folder, file), 'utf8'))

const text = z.string().min(1)
/** All metadata of a trigger are texts. */
const number = z.string().regex(/^\d+$/)
const metadata = z.strictObject({ name: text, namespace: text })
const seconds = z.int().min(0)

const common = { metricType: z.enum(['AverageValue', 'Value']).optional(), name: text.optional() }
const azureMonitor = z.strictObject({
  type: z.literal('azure-monitor'),
  ...common,
  authenticationRef: z.strictObject({ name: text, kind: text.optional() }),
  metadata: z.strictObject({
    tenantId: text,
    subscriptionId: text,
    resourceGroupName: text,
    resourceURI: z.string().regex(/^[\w.]+\/\w+\/\w+$/),
    metricNamespace: text.optional(),
    metricName: text,
    metricFilter: text.optional(),
    metricAggregationType: z.enum(['Average', 'Total', 'Maximum', 'Minimum', 'Count']),
    metricAggregationInterval: z
      .string()
      .regex(/^\d+:\d+:\d+$/)
      .optional(),
    targetValue: number,
    activationTargetValue: number.optional(),
  }),
})
const prometheus = z.strictObject({
  type: z.literal('prometheus'),
  ...common,
  metadata: z.strictObject({
    serverAddress: z.url(),
    query: text,
    threshold: number,
    activationThreshold: number.optional(),
    ignoreNullValues: z.enum(['true', 'false']).optional(),
  }),
})

const scaledObject = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('ScaledObject'),
  metadata,
  spec: z.strictObject({
    scaleTargetRef: z.strictObject({ apiVersion: text.optional(), kind: text.optional(), name: text }),
    pollingInterval: seconds.optional(),
    cooldownPeriod: seconds.optional(),
    minReplicaCount: z.int().min(0).optional(),
    maxReplicaCount: z.int().min(1).optional(),
    fallback: z
      .strictObject({
        failureThreshold: z.int().min(0),
        replicas: z.int().min(0),
        behavior: z.enum(['static', 'currentReplicas', 'currentReplicasIfHigher', 'currentReplicasIfLower']).optional(),
      })
      .optional(),
    advanced: z
      .strictObject({
        horizontalPodAutoscalerConfig: z.strictObject({
          behavior: z.strictObject({ scaleDown: z.strictObject({ stabilizationWindowSeconds: seconds }) }),
        }),
      })
      .optional(),
    triggers: z.array(z.discriminatedUnion('type', [azureMonitor, prometheus])).min(1),
  }),
})

const authentication = z.strictObject({
  apiVersion: z.literal('keda.sh/v1alpha1'),
  kind: z.literal('TriggerAuthentication'),
  metadata,
  spec: z.strictObject({ podIdentity: z.strictObject({ provider: z.enum(['azure-workload']), identityId: text }) }),
})

const scaled = ['push.yaml', 'pull.yaml']

it('are all checked here', () => {
  expect(readdirSync(resolve(folder, 'keda')).toSorted()).toEqual([...scaled, 'trigger-authentication.yaml'].toSorted())
})

it.each(scaled)('%s keeps to the schema, and scales the deployment in its namespace within its bounds', (file) => {
  const { metadata: own, spec } = scaledObject.parse(read(`keda/${file}`))
  const deployment = read('deployment.yaml')
  expect(own.namespace).toBe(deployment.metadata.namespace)
  expect(spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: deployment.metadata.name })
  expect(spec.minReplicaCount).toBeGreaterThan(0)
  expect(spec.minReplicaCount).toBeLessThanOrEqual(spec.maxReplicaCount ?? 0)
})

it.each(scaled)('%s asks for a metric that there is, and adds a pod before maxConcurrency is reached', async (file) => {
  const { spec } = scaledObject.parse(read(`keda/${file}`))
  const [component] = parseComponents(readFileSync(resolve(folder, 'component.yaml'), 'utf8'), {
    secrets: { 'event-grid': { clientSecret: 'a secret', accessKey: 'a key' } },
  })
  const { push } = parseMetadata(component?.properties ?? {}, { componentName: 'orders' })
  const byPrometheus = spec.triggers.filter(({ type }) => type === 'prometheus')
  expect(byPrometheus).toHaveLength(1)
  for (const trigger of byPrometheus) {
    if (trigger.type !== 'prometheus') continue
    const [name = ''] = /eventgrid_binding_\w+/.exec(trigger.metadata.query) ?? []
    expect(await createMetrics().text()).toContain(`# TYPE ${name} gauge`)
    expect(trigger.metadata.query).toContain(`component="${read('component.yaml').metadata.name}"`)
    expect(Number(trigger.metadata.threshold)).toBeLessThan(push?.maxConcurrency ?? 0)
  }
})

it('pull.yaml names who asks Azure Monitor, and the topic and event subscription of the example for pull', () => {
  const { spec } = scaledObject.parse(read('keda/pull.yaml'))
  const { metadata: who } = authentication.parse(read('keda/trigger-authentication.yaml'))
  const trigger = spec.triggers.find(({ type }) => type === 'azure-monitor')
  if (trigger?.type !== 'azure-monitor') throw new Error('there is none')
  expect(trigger.authenticationRef.name).toBe(who.name)
  const fields: readonly { name: string; value: string }[] = read('../pull/orders.yaml').spec.metadata
  const fieldOf = (name: string) => fields.find((field) => field.name === name)?.value ?? ''
  const [, subscription, group, uri, topic] =
    /^\/subscriptions\/(.+)\/resourceGroups\/(.+)\/providers\/(.+)\/topics\/(.+)$/.exec(fieldOf('namespaceTopic')) ?? []
  expect(trigger.metadata).toMatchObject({ subscriptionId: subscription, resourceGroupName: group, resourceURI: uri })
  expect(trigger.metadata.metricFilter).toBe(
    `Topic eq '${topic}' and EventSubscriptionName eq '${fieldOf('eventSubscriptionName')}'`,
  )
})
