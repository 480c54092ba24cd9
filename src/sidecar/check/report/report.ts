/** The report of `check --json`, and its JSON Schema. */
import { z } from 'zod'
import { checkIds } from './check-ids.ts'

const outcome = z.strictObject({
  id: z.enum(checkIds).describe('Stable: docs/check.md has a section for each'),
  status: z.enum(['ok', 'warning', 'failed', 'skipped']),
  detail: z.string().describe('What was seen; for a skipped check, the one that failed. May have several lines'),
  remedy: z.string().optional().describe('What to do about it; may hold lines to paste'),
  field: z.string().optional().describe('The metadata field that a failure or a warning is about, where that is one'),
  ms: z.number().min(0).describe('How long it took, in milliseconds'),
})

const component = z.strictObject({
  name: z.string().nullable().describe('null: faults of a file that belong to no component'),
  file: z.string(),
  checks: z.array(outcome),
})

export const reportSchema = z.strictObject({
  version: z.literal(1),
  ok: z.boolean().describe('Nothing failed; there may be warnings'),
  components: z.array(component),
})

export type CheckReport = z.output<typeof reportSchema>
export type ComponentReport = z.output<typeof component>
export type CheckOutcome = z.output<typeof outcome>

export function reportJsonSchema(): Record<string, unknown> {
  const title = 'The report of eventgrid-binding check --json'
  return { title, ...z.toJSONSchema(reportSchema, { target: 'draft-7' }) }
}
