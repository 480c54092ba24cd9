import type { Outcome } from './run-checks.ts'

/** A part of a line, and its meaning, which chooses the colour. */
export interface LinePart {
  readonly text: string
  readonly tone: 'good' | 'warning' | 'bad' | 'faint' | 'plain'
}

const signs: Readonly<Record<Outcome['status'], LinePart>> = {
  ok: { text: '✓', tone: 'good' },
  warning: { text: '!', tone: 'warning' },
  failed: { text: '✗', tone: 'bad' },
  skipped: { text: '-', tone: 'faint' },
}

const idWidth = 'endpoint/certificate'.length

/** The lines of one check: the detail, and below it the remedy. */
export function outcomeLines({ id, status, detail, remedy }: Outcome): readonly (readonly LinePart[])[] {
  const [first = '', ...more] = detail.split('\n')
  const faint = status === 'skipped' || status === 'ok' ? ('faint' as const) : ('plain' as const)
  return [
    [
      { text: '  ', tone: 'plain' },
      signs[status],
      { text: ` ${id.padEnd(idWidth)}  `, tone: 'plain' },
      { text: first, tone: faint },
    ],
    ...more.map((line) => [{ text: `      ${line}`, tone: faint }]),
    // Further lines are often commands: only spaces precede them, so that they can be pasted.
    ...(remedy?.split('\n') ?? []).map((line, at) => [
      { text: `      ${at === 0 ? '→' : ' '} ${line}`, tone: 'plain' as const },
    ]),
  ]
}

export function countLine(outcomes: readonly Outcome[], ms: number): readonly LinePart[] {
  const count = (status: Outcome['status']) => outcomes.filter((one) => one.status === status).length
  const [failed, warnings, skipped] = [count('failed'), count('warning'), count('skipped')]
  const parts = [
    `${count('ok')} ok`,
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  const tone = failed > 0 ? 'bad' : warnings > 0 ? 'warning' : 'good'
  return [
    { text: failed > 0 ? '✗ ' : '✓ ', tone },
    { text: `${parts.join(', ')} in ${(ms / 1_000).toFixed(1)} s`, tone: 'plain' },
  ]
}
