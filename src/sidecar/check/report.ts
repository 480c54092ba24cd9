/** The report of `check`: the ids of the checks, in their order, its JSON, and its lines for a person. */
import { z } from 'zod'
import type { LinePart } from '../../support/command-line/terminal.ts'

/**
 * The ids of all checks, in the order in which they are reported. They are a public interface: docs/check.md has a section
 * for each, and the JSON Schema of the report lists them.
 */
export const checkIds = [
  'files/yaml',
  'files/metadata',
  'files/secrets',
  'files/names',
  'machine/port',
  'machine/clock',
  'machine/sidecar',
  'endpoint/dns',
  'endpoint/connect',
  'endpoint/certificate',
  'endpoint/handshake',
  'endpoint/path',
  'azure/credential',
  'azure/provider',
  'azure/scope',
  'azure/permission',
  'azure/subscription',
  'pull/receive',
  'pull/settle',
  'topic/dns',
  'topic/certificate',
  'topic/credential',
  'round-trip/event',
] as const

export type CheckId = (typeof checkIds)[number]

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

const signs: Readonly<Record<CheckOutcome['status'], LinePart>> = {
  ok: { text: '✓', tone: 'good' },
  warning: { text: '!', tone: 'warning' },
  failed: { text: '✗', tone: 'bad' },
  skipped: { text: '-', tone: 'faint' },
}

/** Spaces before further lines of a detail, such as an excerpt of a file. */
export const moreIndent = 6

const idWidth = 'endpoint/certificate'.length

export function outcomeLines({ id, status, detail, remedy }: CheckOutcome): readonly (readonly LinePart[])[] {
  const [first = '', ...more] = detail.split('\n')
  const tone = status === 'skipped' || status === 'ok' ? 'faint' : 'plain'
  return [
    [{ text: '  ' }, signs[status], { text: ` ${id.padEnd(idWidth)}  ` }, { text: first, tone }],
    ...more.map((line): readonly LinePart[] => [{ text: ' '.repeat(moreIndent) }, { text: line, tone }]),
    // Further lines are often commands: only spaces precede them, so that they can be pasted.
    ...(remedy?.split('\n') ?? []).map((line, at) => [{ text: `      ${at === 0 ? '→' : ' '} ` }, { text: line }]),
  ]
}

export function countLine(outcomes: readonly CheckOutcome[], ms: number): readonly LinePart[] {
  if (outcomes.length === 0) {
    const text = 'nothing was checked: none of these checks is for a component here'
    return [{ text: '! ', tone: 'warning' }, { text }]
  }
  const count = (status: CheckOutcome['status']) => outcomes.filter((one) => one.status === status).length
  const [failed, warnings, skipped] = [count('failed'), count('warning'), count('skipped')]
  const parts = [`${count('ok')} ok`]
  if (warnings > 0) parts.push(`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`)
  if (failed > 0) parts.push(`${failed} failed`)
  if (skipped > 0) parts.push(`${skipped} skipped`)
  const calm = warnings > 0 ? 'warning' : 'good'
  return [
    failed > 0 ? { text: '✗ ', tone: 'bad' } : { text: '✓ ', tone: calm },
    { text: `${parts.join(', ')} in ${(ms / 1_000).toFixed(1)} s` },
  ]
}
