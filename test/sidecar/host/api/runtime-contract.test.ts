import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { compileDefinitions } from '../../../../build/compile-definitions.ts'
import compiled from '../../../../src/sidecar/host/api/proto/runtime.json' with { type: 'json' }
import { loadRuntimeContract } from '../../../../src/sidecar/host/api/runtime-contract.ts'
import { loadDefinitions } from '../../../../src/sidecar/shared/grpc.ts'
import { daprDefinitions, daprService } from '../../../support/dapr-protos.ts'

const file = resolve(import.meta.dirname, '../../../../src/sidecar/host/api/proto/runtime.proto')

interface Field {
  readonly name: string
  readonly number: number
  readonly type: string
  readonly label: string
}

function fieldsOf(definition: object | undefined): readonly Field[] {
  const fields: readonly Field[] = Object(Object(definition).type).field ?? []
  return fields.map(({ name, number, type, label }) => ({ name, number, type, label }))
}

const messages = Object.entries(loadDefinitions(compiled)).filter(
  ([name, definition]) => 'format' in definition && !name.endsWith('.Empty'),
)

it.each(messages)('has %s as Dapr has it on the wire', (name, definition) => {
  const ours = fieldsOf(definition)
  expect(ours.length).toBeGreaterThan(0)
  expect(fieldsOf(daprDefinitions[name])).toEqual(expect.arrayContaining([...ours]))
})

it.each(Object.entries(loadRuntimeContract()))('has the methods of %s at the paths that Dapr has', (name, service) => {
  const pathsOf = (methods: object) => Object.values(methods).map(({ path }) => path)
  expect(pathsOf(daprService(name))).toEqual(expect.arrayContaining(pathsOf(service)))
})

it.each([file, resolve(import.meta.dirname, '../../../../src/sidecar/pluggable/grpc/proto/bindings.proto')])(
  'has the compiled form of %s beside it (npm run definitions)',
  (proto) => {
    const beside: unknown = JSON.parse(readFileSync(proto.replace(/proto$/, 'json'), 'utf8'))
    expect(beside).toEqual(JSON.parse(compileDefinitions(proto)))
  },
)

it('loads nothing of gRPC for run before an option asks for it, and no Fastify before a component listens', () => {
  const root = resolve(import.meta.dirname, '../../../../src/sidecar/cli/commands/run.ts')
  const seen = new Set<string>()
  const packages = new Set<string>()
  function follow(path: string): void {
    if (seen.has(path)) return
    seen.add(path)
    const text = readFileSync(path, 'utf8')
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)) {
      if (specifier.startsWith('.')) follow(resolve(dirname(path), specifier))
      else packages.add(specifier)
    }
  }
  follow(root)
  expect([...packages]).toContain('zod')
  expect([...packages].filter((name) => /^@grpc\/|^fastify$/.test(name))).toEqual([])
})
