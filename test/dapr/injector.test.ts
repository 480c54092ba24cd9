import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { withDaprd } from './stack.ts'

const root = resolve(import.meta.dirname, '../..')
const example = resolve(root, 'examples/kubernetes')

/** Dapr's injector as a program; built where there is none yet. */
function obtainInjector(): string {
  const built = resolve(root, '.cache/injector/injector-1.18.1')
  if (existsSync(built)) return built
  const go = (...args: readonly string[]) => execFileSync('go', args, { encoding: 'utf8' })
  const { Dir: folder }: { Dir: string } = JSON.parse(go('mod', 'download', '-json', 'github.com/dapr/dapr@v1.18.1'))
  const copy = resolve(dirname(built), 'dapr')
  mkdirSync(dirname(built), { recursive: true })
  execFileSync('cp', ['-R', folder, copy])
  execFileSync('chmod', ['-R', 'u+w', copy])
  cpSync(resolve(import.meta.dirname, 'injector'), resolve(copy, 'cmd/patched-pod'), { recursive: true })
  go('build', '-C', copy, '-o', built, './cmd/patched-pod')
  rmSync(copy, { recursive: true })
  return built
}

const container = z.object({
  name: z.string(),
  restartPolicy: z.string().optional(),
  env: z.array(z.object({ name: z.string() })).optional(),
  volumeMounts: z
    .array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() }))
    .optional(),
  ports: z.array(z.object({ containerPort: z.number() })),
  resources: z.object({ requests: z.object({ cpu: z.string() }) }),
})
const podSpec = z.object({ initContainers: z.array(container), containers: z.array(container) })

withDaprd(
  "Dapr's own injector puts daprd behind the binding of examples/kubernetes, with its sockets at " +
    'hand, and every container requests what the autoscaler measures by',
  () => {
    const files = ['component.yaml', 'deployment.yaml'].map((file) => resolve(example, file))
    const { initContainers, containers } = podSpec.parse(
      JSON.parse(execFileSync(obtainInjector(), files, { encoding: 'utf8' })),
    )
    expect(initContainers.map(({ name, restartPolicy }) => `${name} ${restartPolicy}`)).toEqual([
      'eventgrid-binding Always',
      'daprd Always',
    ])
    expect(containers.map(({ name }) => name)).toEqual(['orders'])
    const sockets = { name: 'component-sockets', mountPath: '/tmp/dapr-components-sockets' }
    for (const { volumeMounts } of initContainers) expect(volumeMounts).toContainEqual(sockets)
    // Any other folder would have to reach daprd by this variable, which the injector spells otherwise.
    const variables = initContainers.flatMap(({ env = [] }) => env.map(({ name }) => name))
    expect(variables).not.toContain('DAPR_COMPONENTS_SOCKETS_FOLDER')
    const ports = [...initContainers, ...containers].flatMap((one) =>
      one.ports.map(({ containerPort }) => containerPort),
    )
    expect(new Set(ports).size).toBe(ports.length)
  },
)
