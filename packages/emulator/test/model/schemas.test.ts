import { expect, it } from 'vitest'
import { z } from 'zod'
import { enumeration, plainWords } from '../../src/model/schemas.ts'

it.each<[name: string, schema: z.ZodType, given: unknown, words: string]>([
  ['a missing value', z.string(), undefined, 'is required'],
  ['another type', z.string(), 5, 'must be a text'],
  ['a mapping', z.object({}), 'x', 'must be a mapping'],
  ['a near name', enumeration('WebHook', 'EventHub'), 'WebHok', 'must be WebHook or EventHub; did you mean WebHook?'],
  ['a short list', z.array(z.string()).min(1), [], 'must hold at least 1 entry'],
  ['a long text', z.string().max(3), 'abcd', 'must have at most 3 characters'],
  ['a large number', z.int().max(30), 31, 'must be 30 or less'],
  ['a duration', z.iso.duration(), 'soon', 'must be a duration of ISO 8601, like PT5M'],
  ['a rule with words of its own', z.string().min(1, 'must not be empty'), '', 'must not be empty'],
])('tells %s in plain words', (_name, schema, given, words) => {
  expect(schema.safeParse(given, { error: plainWords }).error?.issues[0]?.message).toBe(words)
})

it('takes the name of an enumeration in any letter case, and keeps that of Azure', () => {
  expect(enumeration('WebHook', 'EventHub').parse('WEBHOOK')).toBe('WebHook')
})
