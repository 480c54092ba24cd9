/** How the outcomes of checks look on a terminal. */
import type { LinePart } from '../../../support/command-line/terminal.ts'
import type { CheckOutcome } from './report.ts'

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
