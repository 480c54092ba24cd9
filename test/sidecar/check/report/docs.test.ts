import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { checkIds } from '../../../../src/sidecar/check/report/check-ids.ts'
import { reportJsonSchema } from '../../../../src/sidecar/check/report/report.ts'
import { readCheckOptions } from '../../../../src/sidecar/cli/options/check-options.ts'

const root = resolve(import.meta.dirname, '../../../..')
const textOf = (file: string) => readFileSync(resolve(root, file), 'utf8')

it('lists each id in the JSON Schema', () => {
  const ids = z.object({
    properties: z.object({
      components: z.object({
        items: z.object({
          properties: z.object({
            checks: z.object({
              items: z.object({ properties: z.object({ id: z.object({ enum: z.array(z.string()) }) }) }),
            }),
          }),
        }),
      }),
    }),
  })
  const schema = ids.parse(reportJsonSchema())
  expect(schema.properties.components.items.properties.checks.items.properties.id.enum).toEqual(checkIds)
})

it('has an init container whose options are right', () => {
  const patch = z
    .object({
      spec: z.object({
        template: z.object({ spec: z.object({ initContainers: z.array(z.object({ args: z.array(z.string()) })) }) }),
      }),
    })
    .parse(parse(textOf('examples/check/init-container.yaml')))
  const [name, ...args] = patch.spec.template.spec.initContainers[0]?.args ?? []
  expect(name).toBe('check')
  expect(readCheckOptions(args)).toMatchObject({ components: ['/components'], waitMs: 300_000 })
})
