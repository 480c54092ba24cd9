import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { checkIds } from '../../src/check/check-ids.ts'
import { reportJsonSchema } from '../../src/check/report.ts'
import { readCheckOptions } from '../../src/cli/check-options.ts'
import { check } from '../../src/cli/commands/check.ts'

const root = resolve(import.meta.dirname, '../..')
const textOf = (file: string) => readFileSync(resolve(root, file), 'utf8')
const page = textOf('docs/check.md')

it('has a section for each id in docs/check.md, in the order of the report, and no other', () => {
  expect([...page.matchAll(/^### (.+)$/gm)].map(([, id]) => id)).toEqual(checkIds)
})

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

it('explains each option of --help', () => {
  const options = [...check.help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option = '']) => option)
  for (const option of options) expect(page).toContain(`| \`${option}`)
})

it('names only ids that there are, in the pages of errors and check', () => {
  const text = [page, textOf('docs/errors.md')].join('\n')
  const named = [...text.matchAll(/`((?:files|machine|endpoint|azure|filters|topic|round-trip)\/[a-z]+)`/g)].map(
    ([, id]) => id,
  )
  expect(named.filter((id) => !checkIds.some((known) => known === id))).toEqual([])
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
