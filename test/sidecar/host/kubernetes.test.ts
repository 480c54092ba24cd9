import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { validate as gateway } from '@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1Gateway'
import { validate as httpRoute } from '@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1HTTPRoute'
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler'
import { validate as cronJob } from 'kubernetes-models/_schemas/IoK8sApiBatchV1CronJob'
import { validate as job } from 'kubernetes-models/_schemas/IoK8sApiBatchV1Job'
import { validate as namespace } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Namespace'
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as serviceAccount } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ServiceAccount'
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseComponents } from '../../../src/index.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { publisherDefaults } from '../../../src/publisher/publisher.ts'
import * as serve from '../../../src/sidecar/cli/commands/serve.ts'

const root = resolve(import.meta.dirname, '../../..')
const folder = resolve(root, 'examples/kubernetes')
const textOf = (file: string) => readFileSync(resolve(folder, file), 'utf8')
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')

/** Kubernetes' own schemas, as the package of its models brings them, and the type that says which fields there are. */
const kinds = {
  'deployment.yaml': { validate: deployment, type: 'apps/v1/Deployment' },
  'autoscaler.yaml': { validate: autoscaler, type: 'autoscaling/v2/HorizontalPodAutoscaler' },
  'namespace.yaml': { validate: namespace, type: 'v1/Namespace' },
  'secret.yaml': { validate: secret, type: 'v1/Secret' },
  'service.yaml': { validate: service, type: 'v1/Service' },
  'service-account.yaml': { validate: serviceAccount, type: 'v1/ServiceAccount' },
  'network-policy.yaml': { validate: networkPolicy, type: 'networking.k8s.io/v1/NetworkPolicy' },
  'disruption-budget.yaml': { validate: disruptionBudget, type: 'policy/v1/PodDisruptionBudget' },
  'provision-service-account.yaml': { validate: serviceAccount, type: 'v1/ServiceAccount' },
  'provision-job.yaml': { validate: job, type: 'batch/v1/Job' },
  'check-cronjob.yaml': { validate: cronJob, type: 'batch/v1/CronJob' },
  'without-dapr.yaml': { validate: deployment, type: 'apps/v1/Deployment' },
} as const

/** Kinds of custom resources: their schemas refuse fields that they do not know. */
const customKinds = {
  'gateway.yaml': { validate: gateway },
  'http-route.yaml': { validate: httpRoute },
} as const

/** Applied by hand, not by kubectl apply -k. */
const byHand = ['provision-service-account.yaml', 'provision-job.yaml', 'check-cronjob.yaml', 'without-dapr.yaml']

/** The part of a manifest at a path. */
const at = (file: string, ...path: readonly (string | number)[]) =>
  path.reduce((part, key) => part[key], parse(textOf(file)))

const { selector, template } = at('deployment.yaml', 'spec')
const { annotations } = template.metadata
const [binding] = template.spec.initContainers
const [application] = template.spec.containers

interface Named {
  readonly name: string
}
interface Port extends Named {
  readonly containerPort: number
}
const portNamed = (name: unknown) => binding.ports.find((port: Port) => port.name === name)?.containerPort

describe('the manifests', () => {
  it('are all listed for kubectl apply -k, and all checked here', () => {
    expect([...at('kustomization.yaml', 'resources'), ...byHand].toSorted()).toEqual(files.toSorted())
    expect(files.toSorted()).toEqual(
      [...Object.keys({ ...kinds, ...customKinds }), 'component.yaml', 'pod-monitor.yaml'].toSorted(),
    )
  })

  it.each(Object.entries({ ...kinds, ...customKinds }))('%s keeps to the schema', (file, { validate }) => {
    const valid = validate(parse(textOf(file)))
    expect(valid ? [] : Reflect.get(validate, 'errors')).toEqual([])
  })

  it('pod-monitor.yaml keeps to the schema, and names a port of the pods', () => {
    expect(() => new PodMonitor(parse(textOf('pod-monitor.yaml'))).validate()).not.toThrow()
    expect(portNamed(at('pod-monitor.yaml', 'spec', 'podMetricsEndpoints', 0, 'port'))).toBeDefined()
  })

  it('have no field that Kubernetes does not know', () => {
    const out = resolve(root, '.cache/manifests')
    mkdirSync(out, { recursive: true })
    const lines = Object.entries(kinds).flatMap(([file, { type }], index) => [
      `import type { I${type.split('/').at(-1)} as Kind${index} } from 'kubernetes-models/${type}'`,
      `export const m${index}: Kind${index} = ${JSON.stringify(parse(textOf(file)))}`,
    ])
    writeFileSync(resolve(out, 'manifests.ts'), lines.join('\n'))
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
    const tsc = resolve(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, ...options, resolve(out, 'manifests.ts')], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
  })

  it('are of one namespace', () => {
    const namespaces = files
      .filter((file) => file !== 'namespace.yaml')
      .map((file) => at(file, 'metadata', 'namespace'))
    expect(new Set(namespaces)).toEqual(new Set([at('namespace.yaml', 'metadata', 'name')]))
  })
})

const given = { clientSecret: 'a secret', accessKey: 'a key' }
const [component] = parseComponents(textOf('component.yaml'), { secrets: { 'event-grid': given } })
const { push: input, output, warnings } = parseMetadata(component?.properties ?? {}, { componentName: 'orders' })

describe('the component', () => {
  it('is valid, with both sides', () => {
    expect(output).toBeDefined()
    expect(warnings).toEqual([])
  })

  it('finds its secrets in the secret', () => {
    expect(Object.keys(at('secret.yaml', 'stringData'))).toEqual(Object.keys(given))
    expect(at('secret.yaml', 'metadata', 'name')).toBe('event-grid')
  })

  it('is for the application of the deployment', () => {
    expect(at('component.yaml', 'scopes')).toEqual([annotations['dapr.io/app-id']])
    for (const file of [
      'without-dapr.yaml',
      'check-cronjob.yaml',
      'provision-job.yaml',
      '../check/init-container.yaml',
    ])
      expect(textOf(file)).toMatch(new RegExp(`--app-id(=|", ")${at('component.yaml', 'scopes', 0)}\\b`))
  })

  it('listens where the gateway ends up: gateway, route, service, container, handshakePort', () => {
    const host = at('http-route.yaml', 'spec', 'hostnames', 0)
    const rule = ['spec', 'rules', 0] as const
    expect(`https://${host}${at('http-route.yaml', ...rule, 'matches', 0, 'path', 'value')}`).toBe(
      input?.subscriberEndpoint,
    )
    expect(at('gateway.yaml', 'spec', 'listeners', 0, 'hostname')).toBe(host)
    expect(at('http-route.yaml', 'spec', 'parentRefs', 0, 'name')).toBe(at('gateway.yaml', 'metadata', 'name'))
    expect(at('http-route.yaml', ...rule, 'backendRefs', 0)).toEqual({
      name: at('service.yaml', 'metadata', 'name'),
      port: at('service.yaml', 'spec', 'ports', 0, 'port'),
    })
    expect(portNamed('events')).toBe(input?.handshakePort)
  })

  it('is reached by number: a named port of an init container needs Kubernetes 1.33, and a network plugin that finds it', () => {
    expect(at('service.yaml', 'spec', 'ports', 0, 'targetPort')).toBe(input?.handshakePort)
    expect(at('network-policy.yaml', 'spec', 'ingress', 0, 'ports', 0, 'port')).toBe(input?.handshakePort)
    expect(at('network-policy.yaml', 'spec', 'ingress', 1, 'ports', 0, 'port')).toBe(portNamed('health'))
  })
})

describe('the pods', () => {
  it.each([
    { name: 'the deployment', labels: selector.matchLabels },
    { name: 'the service', labels: at('service.yaml', 'spec', 'selector') },
    { name: 'the disruption budget', labels: at('disruption-budget.yaml', 'spec', 'selector', 'matchLabels') },
    { name: 'the network policy', labels: at('network-policy.yaml', 'spec', 'podSelector', 'matchLabels') },
  ])('are those that $name selects', ({ labels: selected }) => {
    expect(template.metadata.labels).toMatchObject(selected)
  })

  it('are those that the autoscaler scales', () => {
    const target = at('autoscaler.yaml', 'spec', 'scaleTargetRef')
    expect(target).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: at('deployment.yaml', 'metadata', 'name'),
    })
  })

  it('request processor time in every container, by which the autoscaler measures', () => {
    expect(at('autoscaler.yaml', 'spec', 'metrics', 0, 'resource', 'name')).toBe('cpu')
    const daprd = annotations['dapr.io/sidecar-cpu-request']
    const requested = [binding, application].map((one) => one.resources.requests.cpu)
    expect([daprd, ...requested]).toEqual(Array(3).fill(expect.stringMatching(/^\d+m$/)))
  })

  it('start the binding before anything else, and end it last', () => {
    expect([binding.name, binding.restartPolicy]).toEqual(['eventgrid-binding', 'Always'])
    expect(binding.startupProbe).toBeDefined()
    expect([template.spec.initContainers, template.spec.containers]).toEqual([[binding], [application]])
    expect(annotations['dapr.io/enable-native-sidecar']).toBe('true')
  })

  it('share one volume of sockets between the binding and daprd, where both look', () => {
    const [mount] = binding.volumeMounts
    expect(annotations['dapr.io/volume-mounts-rw']).toBe(`${mount.name}:${mount.mountPath}`)
    expect(template.spec.volumes.map(({ name }: Named) => name)).toEqual([mount.name])
    // The help is wrapped.
    expect(serve.help.replace(/\s+/g, ' ')).toContain(`else ${mount.mountPath})`)
  })

  it('are probed on the port for health that serve is told to open, at its paths', () => {
    const args: readonly string[] = binding.args
    expect(args[0]).toBe('serve')
    for (const option of args.filter((arg) => arg.startsWith('--'))) expect(serve.help).toContain(option)
    const port = Number(args[args.indexOf('--metrics-port') + 1])
    const probes = [binding.startupProbe, binding.livenessProbe, binding.readinessProbe]
    expect(probes.map((one) => portNamed(one.httpGet.port))).toEqual([port, port, port])
    expect(probes.map((one) => one.httpGet.path)).toEqual(['/healthz', '/healthz', '/readyz'])
  })

  it('have no port twice, nor one that daprd takes', () => {
    const ports = [binding, application].flatMap((one) => one.ports.map(({ containerPort }: Port) => containerPort))
    const all = [...ports, 3500, 50001, 50002, 9090]
    expect(new Set(all).size).toBe(all.length)
    expect(annotations['dapr.io/app-port']).toBe(String(application.ports[0].containerPort))
  })

  it.each([binding, application])(
    'run as nobody in particular, without privileges, on a read-only filesystem, probed and within limits',
    (one) => {
      expect(one.securityContext).toMatchObject({
        runAsUser: 65532,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(one).toMatchObject({ readinessProbe: expect.anything(), resources: { limits: expect.anything() } })
      expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true, fsGroup: 65532 })
    },
  )
})

describe('without-dapr.yaml', () => {
  it('has the probes of the deployment', () => {
    const path = ['spec', 'template', 'spec', 'initContainers', 0] as const
    for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(at('without-dapr.yaml', ...path, kind), kind).toEqual(at('deployment.yaml', ...path, kind))
  })

  it.each([
    { file: 'deployment.yaml', daprd: Number(annotations['dapr.io/graceful-shutdown-seconds']) },
    { file: 'without-dapr.yaml', daprd: undefined },
  ])('and $file give a pod the time that its parts may take to end', ({ file, daprd }) => {
    const spec = ['spec', 'template', 'spec'] as const
    const preStop = Number(at(file, ...spec, 'containers', 0, 'lifecycle', 'preStop', 'sleep', 'seconds'))
    const handling = (input?.handlerTimeoutMs ?? 0) / 1_000
    const sum = preStop + handling + (daprd ?? handling) + publisherDefaults.closeTimeoutMs / 1_000
    expect(at(file, ...spec, 'terminationGracePeriodSeconds')).toBeGreaterThanOrEqual(sum)
    expect(readFileSync(resolve(root, 'docs/operations.md'), 'utf8')).toMatch(
      new RegExp(`^\\| sum \\|.* ${sum} s \\|`, 'm'),
    )
  })
})

describe('the recipe of a rotation', () => {
  it('names every Secret that a manifest mounts, and that of the component', () => {
    const manifests = [...files.map(textOf), readFileSync(resolve(root, 'examples/check/init-container.yaml'), 'utf8')]
    const mounted = manifests.flatMap((text) => [...text.matchAll(/secretName: (\S+)/g)].map(([, name = '']) => name))
    const secrets = new Set([...mounted, String(at('secret.yaml', 'metadata', 'name'))])
    expect(secrets.size).toBeGreaterThan(2)
    const page = readFileSync(resolve(root, 'docs/kubernetes.md'), 'utf8')
    const [, recipe = ''] = /^## Rotate a secret\n([\s\S]*?)\n## /m.exec(page) ?? []
    for (const name of secrets) expect(recipe).toContain(`\`${name}\``)
  })
})

describe('the Dockerfile', () => {
  const lines = readFileSync(resolve(root, 'Dockerfile'), 'utf8').split('\n')

  it('copies files that exist, and starts the bundle', () => {
    const copied = lines.flatMap((line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
    expect(copied.length).toBeGreaterThan(3)
    expect(copied.filter((file) => !existsSync(resolve(root, file)))).toEqual([])
    expect(lines).toContain('ENTRYPOINT ["node", "/app/eventgrid-binding.js"]')
  })

  it('runs as the user of the deployment, on a Node that the package allows', () => {
    expect(lines).toContain('USER 65532:65532')
    expect(lines.filter((line) => line.startsWith('FROM')).every((line) => line.includes(' node:24-'))).toBe(true)
  })
})
