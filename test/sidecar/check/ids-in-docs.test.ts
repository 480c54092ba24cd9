import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkIds, reportJsonSchema } from '../../../src/sidecar/check/report.ts'
import { readCheckOptions } from '../../../src/sidecar/cli/commands/check.ts'

it('lists each id in the JSON Schema', () => {
  const checks = { items: { properties: { id: { enum: checkIds } } } }
  expect(reportJsonSchema()).toMatchObject({ properties: { components: { items: { properties: { checks } } } } })
})

it('has an init container whose options are right', () => {
  const text = readFileSync(new URL('../../../examples/check/init-container.yaml', import.meta.url), 'utf8')
  const [name, ...args] = parse(text).spec.template.spec.initContainers[0].args
  expect(name).toBe('check')
  expect(readCheckOptions(args)).toMatchObject({ components: ['/components'], waitMs: 300_000 })
})
